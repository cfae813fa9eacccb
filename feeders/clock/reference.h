// The clocks that a counter is held against: the one seam to the machine's time; tests have a
// FakeReference (tests/unit/clock). Thread-safe and signal-safe.
#pragma once

#include <cstdint>

namespace tallyfs {

inline constexpr std::int64_t kSecond = 1'000'000'000;  // ns

class Reference {
 public:
  virtual std::int64_t monotonic_ns() const = 0;  // CLOCK_MONOTONIC
  virtual std::int64_t realtime_ns() const = 0;   // CLOCK_REALTIME
  virtual std::int64_t boottime_ns() const = 0;   // CLOCK_BOOTTIME: goes on during a suspend
  // CLOCK_MONOTONIC as it was up to coarse_step_ns() ago, for a quarter of the price.
  virtual std::int64_t coarse_ns() const = 0;
  virtual std::int64_t coarse_step_ns() const = 0;

 protected:
  // Trivial, so that a clock may be used until the process is no more.
  ~Reference() = default;
};

class SystemReference final : public Reference {
 public:
  constexpr SystemReference() = default;
  std::int64_t monotonic_ns() const override;
  std::int64_t realtime_ns() const override;
  std::int64_t boottime_ns() const override;
  std::int64_t coarse_ns() const override;
  std::int64_t coarse_step_ns() const override;
};

}  // namespace tallyfs
