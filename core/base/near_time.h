// Times that come from outside (kernel events, stamps of programs), made safe for arithmetic.
// Pure.
#pragma once

#include <algorithm>
#include <chrono>

#include "core/base/clock.h"

namespace tallyfs {

// Farther from now than that no time is believed: sums and differences of such times fit into 64
// bits, and no measurement waits for longer.
inline constexpr std::chrono::nanoseconds kNearMax = std::chrono::hours(24);

// On CLOCK_MONOTONIC.
inline std::chrono::nanoseconds clamped_near(std::chrono::nanoseconds time, Moment now) {
  return std::clamp(time, now.monotonic - kNearMax, now.monotonic + kNearMax);
}

}  // namespace tallyfs
