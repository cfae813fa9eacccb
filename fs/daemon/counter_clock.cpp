#include "fs/daemon/counter_clock.h"

#include <array>

// The build defines it as 0 where the clock is not built.
#ifndef TALLY_CLOCK
#define TALLY_CLOCK 1
#endif
#if TALLY_CLOCK
#include "feeders/clock/cycle_clock.h"
#endif

namespace tallyfs {
namespace {

#if TALLY_CLOCK

class CounterClock final : public CounterTimes {
 public:
  CounterClock() : clock_(kReference, &best_driver, room_) { (void)clock_.cycles(); }

  CounterLine line() override {
    const Line line = clock_.line();
    if (!clock_.is_counter()) return {};
    return {line.cycles, static_cast<std::int64_t>(line.ns), static_cast<std::int64_t>(line.rate)};
  }
  void check() override { clock_.upkeep(Wall::Cause::kDue); }

 private:
  static constexpr SystemReference kReference{};

  // No cycles are ever converted into a time of day.
  std::array<Anchor, 4> room_{};
  CycleClock clock_;
};

#else

class CounterClock final : public CounterTimes {
 public:
  CounterLine line() override { return {}; }
  void check() override {}
};

#endif

}  // namespace

std::unique_ptr<CounterTimes> make_counter_clock() { return std::make_unique<CounterClock>(); }

}  // namespace tallyfs
