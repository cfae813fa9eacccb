// A machine whose clocks stand still until a test moves them: a counter, and what the kernel makes
// of it.
#pragma once

#include <atomic>
#include <cstdint>

#include "feeders/clock/cycle_clock.h"

namespace tallyfs {

// Thread-safe only as far as time goes: advance() and reading. Time is told in ns of the counter's
// own crystal; the kernel's clocks may be slewed against it.
class FakeWorld final : public Reference {
 public:
  static constexpr std::int64_t kStartNs = 1'000 * kSecond;
  static constexpr std::int64_t kStartOfDay = 19'000LL * 86'400 * kSecond;

  // Each reading of a clock takes so long.
  std::int64_t reading_ns = 0;
  double counter_hz = 1e9;

  void advance(std::int64_t ns) { now_.fetch_add(ns); }
  // CLOCK_MONOTONIC goes so much faster from now on.
  void slew(double ppm) {
    slewed_ns_ = slewed();
    slew_since_ = now_;
    slew_ppm_ = ppm;
  }
  void set_wall(std::int64_t ns) { wall_ahead_ += ns - realtime_now(); }
  void step_wall(std::int64_t by_ns) { wall_ahead_ += by_ns; }
  // CLOCK_MONOTONIC stands still meanwhile, and so may the counter.
  void suspend(std::int64_t ns, std::uint64_t counter_after) {
    boot_ahead_ += ns;
    wall_ahead_ += ns;
    counter_ahead_ = counter_after - counter_of(now_);
  }
  void suspend(std::int64_t ns) { suspend(ns, counter()); }
  void change_frequency(double hz) {
    const std::uint64_t before = counter();
    counter_hz = hz;
    counter_ahead_ = before - counter_of(now_);
  }
  void stop_counter() { change_frequency(0); }
  void set_counter(std::uint64_t value) { counter_ahead_ = value - counter_of(now_); }

  std::int64_t now() const { return now_; }
  std::uint64_t counter() const { return counter_of(now_) + counter_ahead_; }
  std::int64_t monotonic_now() const { return kStartNs + now_ + slewed(); }
  std::int64_t realtime_now() const { return monotonic_now() + wall_ahead_; }

  std::int64_t monotonic_ns() const override { return take(monotonic_now()); }
  std::int64_t realtime_ns() const override { return take(realtime_now()); }
  std::int64_t boottime_ns() const override { return take(monotonic_now() + boot_ahead_); }
  std::int64_t coarse_ns() const override { return monotonic_now() / coarse_step * coarse_step; }
  std::int64_t coarse_step_ns() const override { return coarse_step; }
  std::int64_t coarse_step = 1;

  static std::uint64_t read_counter_of(void* world) {
    return static_cast<const FakeWorld*>(world)->counter();
  }
  Driver driver(unsigned width_bits = 64) {
    return {.kind = Driver::Kind::kOther,
            .name = "fake",
            .width_bits = width_bits,
            .rate_hz = static_cast<std::uint64_t>(counter_hz),
            .read = &FakeWorld::read_counter_of,
            .context = this};
  }

 private:
  std::uint64_t counter_of(std::int64_t ns) const {
    return static_cast<std::uint64_t>(static_cast<long double>(ns) * counter_hz / 1e9L);
  }
  std::int64_t slewed() const {
    return slewed_ns_ +
           static_cast<std::int64_t>(static_cast<double>(now_ - slew_since_) * slew_ppm_ / 1e6);
  }
  std::int64_t take(std::int64_t read) const {
    now_ += reading_ns;
    return read;
  }

  mutable std::atomic<std::int64_t> now_{0};
  std::int64_t wall_ahead_ = kStartOfDay + 43'200 * kSecond;
  std::int64_t boot_ahead_ = 0;
  std::uint64_t counter_ahead_ = 5'000'000'000;
  double slew_ppm_ = 0;
  std::int64_t slew_since_ = 0;
  std::int64_t slewed_ns_ = 0;
};

}  // namespace tallyfs
