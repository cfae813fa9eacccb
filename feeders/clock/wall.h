// How far CLOCK_REALTIME has been ahead of CLOCK_MONOTONIC. Between two settings of the wall clock
// that is one number, since both are slewed alike; each look narrows it, and one that contradicts
// what was known is a step. When a step was is known to lie between two looks; to kWakeMax before
// the second one, if that was taken because the kernel told of it (timerfd,
// TFD_TIMER_CANCEL_ON_SET); and exactly, if the step is a leap second: the kernel inserts it at
// 24:00:00 UTC by going back a second, and deletes it at 23:59:59.
//
// Bounded: the last kStepsMax settings. Locked by its clock. Times are CLOCK_MONOTONIC, in ns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "feeders/clock/instant.h"

namespace tally {

class Wall {
 public:
  static constexpr std::size_t kStepsMax = 64;
  // How late a thread may be that the kernel wakes.
  static constexpr std::int64_t kWakeMax = 20'000'000;

  enum class Cause { kDue, kTold };

  constexpr Wall() = default;
  // Forgets what was before.
  void begin(std::int64_t now, const Between& ahead);
  void look(std::int64_t now, const Between& ahead, Cause cause);

  struct Offset {
    std::int64_t ns = 0;
    std::int64_t error_ns = 0;
  };
  // Nullopt: that is too long ago.
  std::optional<Offset> at(std::int64_t time) const;

  std::uint64_t steps() const { return steps_; }
  std::uint64_t leap_seconds() const { return leap_seconds_; }
  std::int64_t last_step_ns() const { return last_step_ns_; }

 private:
  // It was so from some time in `begun` on.
  struct Setting {
    Between begun;
    Between ahead;
  };

  const Setting& back(std::size_t steps) const {
    return settings_[(newest_ + kStepsMax - steps) % kStepsMax];
  }
  Between date(std::int64_t now, const Between& ahead, Cause cause);
  std::optional<std::int64_t> leap(std::int64_t now, const Between& ahead) const;

  std::array<Setting, kStepsMax> settings_{};
  std::size_t newest_ = 0;
  std::size_t size_ = 0;
  std::int64_t looked_ = 0;
  std::uint64_t steps_ = 0;
  std::uint64_t leap_seconds_ = 0;
  std::int64_t last_step_ns_ = 0;
};

}  // namespace tally
