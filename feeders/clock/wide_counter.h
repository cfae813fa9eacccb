// A counter of less than 64 bits, extended to 64, for any number of threads at once, without a
// lock.
//
// Plain load and store of the last value goes wrong at once, since a thread may be away between
// them; and compare-and-swap alone does, too, since the counter's instruction may be carried out
// before the load. So a distance above 3/4 of the range means that what was read is slightly older
// than the last value, which is then the answer.
//
// That holds for gaps between two reads of up to 3/4 of the range. CLOCK_MONOTONIC_COARSE, read
// before and after, tells whether there was a longer one; then the clock that the counter was last
// held against tells how often the counter came round: count() = origin + CLOCK_MONOTONIC * rate,
// to the next value that the counter's bits allow. gaps() counts these, doubts() those after which
// the number of rounds cannot be told for certain.
#pragma once

#include <atomic>
#include <cstdint>

#include "feeders/clock/driver.h"
#include "feeders/clock/reference.h"

namespace tallyfs {

class WideCounter {
 public:
  constexpr WideCounter() = default;
  // To be called while no thread reads the counter. Driver::rate_hz and width_bits are used.
  void begin(const Driver& driver, const Reference& reference);

  // Resumes after a time without reads, which is not counted as a gap. Late readers do no harm.
  void resume();

  // Does not step back, over all threads. Signal-safe if the driver is.
  std::uint64_t read();

  // At `ns` of CLOCK_MONOTONIC it was `cycles`, to far less than 1/8 of the range.
  void hold_against(std::uint64_t cycles, std::int64_t ns);

  std::uint64_t gaps() const { return gaps_.load(std::memory_order_relaxed); }
  std::uint64_t doubts() const { return doubts_.load(std::memory_order_relaxed); }

 private:
  // How much faster or slower than it said a counter may run over a gap.
  static constexpr std::int64_t kRateErrorPpm = 2'000;

  std::uint64_t counter() const { return driver_.read(driver_.context) & mask_; }
  std::int64_t gauge_ns() const {
    return gauge_is_coarse_ ? reference_->coarse_ns() : reference_->monotonic_ns();
  }
  std::uint64_t expected(std::int64_t ns) const;
  std::uint64_t bridge(std::uint64_t last);
  std::uint64_t nearest(std::uint64_t read, std::uint64_t expected, std::uint64_t last) const;
  void count_gap(std::int64_t now);

  Driver driver_;
  const Reference* reference_ = nullptr;
  std::uint64_t mask_ = 0;
  std::int64_t gap_max_ns_ = 0;  // as the gauge tells it
  std::int64_t certain_ns_ = 0;  // up to here rounds can be told
  bool gauge_is_coarse_ = false;

  alignas(64) std::atomic<std::uint64_t> last_{0};
  // Not after last_ was read from the counter.
  std::atomic<std::int64_t> last_ns_{0};
  std::atomic<std::uint64_t> origin_{0};
  std::atomic<std::int64_t> held_ns_{0};
  std::atomic<std::uint64_t> gaps_{0};
  std::atomic<std::uint64_t> doubts_{0};
};

}  // namespace tallyfs
