// One instant on all clocks, and how well it is known. Values.
#pragma once

#include <algorithm>
#include <cstdint>

#include "feeders/clock/reference.h"

namespace tallyfs {

// Where a number lies, ends included.
struct Interval {
  std::int64_t low = INT64_MIN;
  std::int64_t high = INT64_MAX;

  bool meets(const Interval& other) const { return low <= other.high && other.low <= high; }
  Interval narrowed_by(const Interval& other) const {
    return {std::max(low, other.low), std::min(high, other.high)};
  }
  std::int64_t middle() const { return low + (high - low) / 2; }
  std::int64_t error() const { return (high - low + 1) / 2; }
};

// To the next nanosecond; std::ceil() would make C programs that link libtally.a need libm.
inline std::int64_t round_up(double ns) {
  const auto below = static_cast<std::int64_t>(ns);
  return below + (ns > static_cast<double>(below) ? 1 : 0);
}

// The counter stood at `cycles`, CLOCK_MONOTONIC at `ns`, give or take error_cycles.
struct Anchor {
  std::uint64_t cycles = 0;
  std::int64_t ns = 0;
  std::uint64_t error_cycles = 0;
  std::uint64_t epoch = 0;
  std::int64_t error_ns = 0;  // the same, by the rate of then
};

struct Instant {
  Anchor anchor;
  Interval realtime;         // CLOCK_REALTIME - CLOCK_MONOTONIC
  Interval boottime;         // CLOCK_BOOTTIME - CLOCK_MONOTONIC
  std::int64_t done_ns = 0;  // CLOCK_MONOTONIC, when CLOCK_REALTIME had been read
};

// How much later `clock()` is than CLOCK_MONOTONIC; each of them drops fractions of a nanosecond.
// The narrowest of some attempts; the first one nearly always will do.
template <typename Read>
Interval ahead_of_monotonic(const Reference& reference, Read&& clock) {
  constexpr int kAttempts = 3;
  constexpr std::int64_t kNarrow = 500;
  Interval best;
  for (int i = 0; i < kAttempts && (i == 0 || best.high - best.low > kNarrow); ++i) {
    const std::int64_t before = reference.monotonic_ns();
    const std::int64_t read = clock();
    const std::int64_t after = reference.monotonic_ns();
    const Interval now = {read - after - 1, read - before + 1};
    if (i == 0 || now.high - now.low < best.high - best.low) best = now;
  }
  return best;
}

// read_cycles: the counter, ordered. Of some attempts the one that took the least time counts,
// since the thread may be interrupted in each.
template <typename ReadCycles>
Anchor take_anchor(const Reference& reference, ReadCycles&& read_cycles) {
  constexpr int kAttempts = 3;
  Anchor best;
  std::uint64_t before = read_cycles();
  for (int i = 0; i < kAttempts; ++i) {
    const std::int64_t ns = reference.monotonic_ns();
    const std::uint64_t after = read_cycles();
    const std::uint64_t half = (after - before) / 2;
    if (i == 0 || half + 1 < best.error_cycles) {
      best = {.cycles = before + half, .ns = ns, .error_cycles = half + 1};
    }
    before = after;
  }
  return best;
}

template <typename ReadCycles>
Instant take_instant(const Reference& reference, ReadCycles&& read_cycles) {
  Instant instant;
  instant.anchor = take_anchor(reference, read_cycles);
  instant.realtime = ahead_of_monotonic(reference, [&] { return reference.realtime_ns(); });
  instant.done_ns = reference.monotonic_ns();
  instant.boottime = ahead_of_monotonic(reference, [&] { return reference.boottime_ns(); });
  return instant;
}

}  // namespace tallyfs
