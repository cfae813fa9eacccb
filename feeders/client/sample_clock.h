// The time of a sample, in two steps: the call notes ticks, which costs half of what a look at
// CLOCK_MONOTONIC does, and whoever sends converts them, counting back from an anchor that it takes
// at that moment. So the error is that of the rate over the age of a sample: below a microsecond
// for those that leave within 10 ms, even while NTP slews the clock by 500 ppm.
//
// Ticks are the time stamp counter where the kernel itself trusts it (its clock source is tsc,
// which takes constant_tsc and nonstop_tsc), else nanoseconds of CLOCK_MONOTONIC.
//
// Thread-safe: the rate is one atomic. calibrate() belongs to one thread.
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace tally {

std::int64_t monotonic_ns();

class SampleClock {
 public:
  enum class Source { kCounter, kMonotonic };

  // One instant on both scales.
  struct Anchor {
    std::uint64_t ticks = 0;
    std::int64_t ns = 0;
  };

  explicit SampleClock(Source source = best_source());
  static Source best_source();

  std::uint64_t ticks() const {
#if defined(__x86_64__)
    if (source_ == Source::kCounter) return __rdtsc();
#endif
    return static_cast<std::uint64_t>(monotonic_ns());
  }

  Anchor anchor() const;
  // CLOCK_MONOTONIC in ns at `ticks`, which is not after the anchor by more than a jitter.
  std::int64_t to_ns(std::uint64_t ticks, const Anchor& now) const {
    const auto age = static_cast<std::int64_t>(now.ticks - ticks);
    return now.ns - static_cast<std::int64_t>(static_cast<double>(age) *
                                              ns_per_tick_.load(std::memory_order_relaxed));
  }
  // Takes the rate of the last second or two. To be called now and then.
  void calibrate();

 private:
  const Source source_;
  std::atomic<double> ns_per_tick_{1.0};
  Anchor older_;
  Anchor newer_;
};

}  // namespace tally
