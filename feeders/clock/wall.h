// How far CLOCK_REALTIME has been ahead of CLOCK_MONOTONIC. Between two settings of the wall clock
// that is one number, since both are slewed alike; each look narrows it, and one that contradicts
// what was known is a step. A step lies between the last look that would have shown it and the one
// that does; nothing bounds how late a thread wakes that the kernel tells of it (timerfd,
// TFD_TIMER_CANCEL_ON_SET), so that makes only the end of the interval the likelier time.
//
// A leap second: the kernel inserts it at 24:00:00 UTC by going back a second, and deletes it at
// 23:59:59, at its next tick, which is kLeapLateMax later at most.
//
// A look takes time, in which the thread may be away; one of more than kConfirming confirms
// nothing, and what is asked since the last that did is uncertain by what it leaves open.
//
// Bounded: the last kStepsMax settings. Locked by its clock. Times are CLOCK_MONOTONIC, in ns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "feeders/clock/instant.h"

namespace tallyfs {

class Wall {
 public:
  static constexpr std::size_t kStepsMax = 64;
  // Two ticks of a kernel of 100 Hz.
  static constexpr std::int64_t kLeapLateMax = 20'000'000;
  static constexpr std::int64_t kConfirming = 2'000;

  enum class Cause { kDue, kTold };

  constexpr Wall() = default;
  // Forgets what was before.
  void begin(std::int64_t now, const Interval& ahead);
  // `when`: from before to behind the look.
  void look(const Interval& when, const Interval& ahead, Cause cause);

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
  // It was so from some time in `begun` on, most likely from `likely`.
  struct Setting {
    Interval begun;
    Interval ahead;
    std::int64_t likely = INT64_MIN;
  };

  const Setting& back(std::size_t steps) const {
    return settings_[(newest_ + kStepsMax - steps) % kStepsMax];
  }
  void confirm(std::int64_t now, const Interval& ahead);
  Setting step(std::int64_t now, const Interval& ahead, Cause cause);
  std::optional<Interval> leap(std::int64_t now, const Interval& ahead) const;

  std::array<Setting, kStepsMax> settings_{};
  std::size_t newest_ = 0;
  std::size_t size_ = 0;
  std::int64_t looked_ = 0;   // the last time that a step would have been seen
  std::int64_t open_ns_ = 0;  // how large a step since then might be that was not seen
  std::uint64_t steps_ = 0;
  std::uint64_t leap_seconds_ = 0;
  std::int64_t last_step_ns_ = 0;
};

}  // namespace tallyfs
