// The time of a sample, in two steps: the call notes the counter's cycles, which costs half of what
// a look at CLOCK_MONOTONIC does; the sending thread converts them by the clock's line of then. So
// a sample that leaves within 10 ms is right to a microsecond even while NTP slews. The clock is a
// CycleClock (feeders/clock) of libtally's own: what the program does with its clock, switching it
// off included, does not reach its samples. Built without the clock, the time is CLOCK_MONOTONIC.
//
// Thread-safe.
#pragma once

#include <array>
#include <cstdint>

#include "tally/clock.h"

#include "feeders/clock/cycles.h"
#if TALLY_CLOCK
#include "feeders/clock/cycle_clock.h"
#endif

namespace tallyfs {

std::int64_t monotonic_ns();

#if TALLY_CLOCK

// Converts cycles to CLOCK_MONOTONIC, for one datagram.
struct SampleTimes {
  Line line;
  std::int64_t now_ns = 0;

  std::int64_t to_ns(std::uint64_t cycles) const { return line.at(cycles); }
};

class SampleTime {
 public:
  using Choose = const Driver* (*)();
  explicit SampleTime(Choose choose = &choose_driver) : clock_(kReference, choose, room_) {
    (void)clock_.cycles();
  }

  // No more ordered with other instructions than the counter. Signal-safe.
  std::uint64_t cycles() { return clock_.cycles(); }
  // Whether cycles() is read_counter(), so that it needs no call.
  bool is_counter() const { return clock_.is_counter(); }
  SampleTimes times() {
    const Line line = clock_.line();
    return {line, line.at(clock_.cycles())};
  }
  // Is the counter still to be trusted? It reads a file. If not, samples that wait get the time of
  // those around them.
  void check() { clock_.upkeep(Wall::Cause::kDue); }

 private:
  static const Driver* choose_driver();
  static constexpr SystemReference kReference{};

  // No stamp is ever converted into a time of day.
  std::array<Anchor, 4> room_{};
  CycleClock clock_;
};

#else

struct SampleTimes {
  std::int64_t now_ns = 0;

  std::int64_t to_ns(std::uint64_t cycles) const { return static_cast<std::int64_t>(cycles); }
};

class SampleTime {
 public:
  std::uint64_t cycles() { return static_cast<std::uint64_t>(monotonic_ns()); }
  bool is_counter() const { return false; }
  SampleTimes times() { return {monotonic_ns()}; }
  void check() {}
};

#endif

}  // namespace tallyfs
