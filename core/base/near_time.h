// Times that come from outside (kernel events, stamps of programs), made safe for arithmetic.
// Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "core/base/clock.h"

namespace tallyfs {

// Farther from now than that no time is believed: sums and differences of such times fit into 64
// bits, and no measurement waits for longer.
inline constexpr std::chrono::nanoseconds kNearMax = std::chrono::hours(24);

// On CLOCK_MONOTONIC.
inline std::chrono::nanoseconds clamped_near(std::chrono::nanoseconds time, Timestamp now) {
  return std::clamp(time, now.monotonic - kNearMax, now.monotonic + kNearMax);
}

// As clamped_near(), for an event in the past, which is not later than now. Nothing has happened
// before CLOCK_MONOTONIC began at 0.
inline std::chrono::nanoseconds clamped_past(std::chrono::nanoseconds time,
                                             std::chrono::nanoseconds now) {
  const auto oldest = std::max(now - kNearMax, std::chrono::nanoseconds(0));
  return std::min(std::max(time, oldest), now);
}
// Where times have no sign: the largest ones are later than now, too.
inline std::uint64_t clamped_past(std::uint64_t time_ns, std::uint64_t now_ns) {
  const auto signed_ns = [](std::uint64_t ns) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(ns));
  };
  const auto time = signed_ns(std::min(time_ns, now_ns));
  return static_cast<std::uint64_t>(clamped_past(time, signed_ns(now_ns)).count());
}

}  // namespace tallyfs
