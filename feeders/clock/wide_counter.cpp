#include "feeders/clock/wide_counter.h"

#include <algorithm>

#include "core/base/int128.h"

namespace tallyfs {
namespace {

constexpr int kAttemptsMax = 8;

std::uint64_t three_quarters(std::uint64_t mask) { return mask - mask / 4; }

}  // namespace

void WideCounter::begin(const Driver& driver, const Reference& reference) {
  driver_ = driver;
  reference_ = &reference;
  mask_ = driver.width_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << driver.width_bits) - 1;
  const auto wrap_ns = static_cast<std::int64_t>(
      std::min<UInt128>(UInt128{mask_} * kSecond / driver.rate_hz, UInt128{INT64_MAX / 1'000'000}));
  // The coarse clock may be a step behind on either side.
  const std::int64_t step = reference.coarse_step_ns();
  gauge_is_coarse_ = 2 * step <= wrap_ns / 4;
  // Not three quarters, since the counter may run faster than it said.
  gap_max_ns_ = wrap_ns / 8 * 5 - (gauge_is_coarse_ ? 2 * step : 0);
  certain_ns_ = wrap_ns / 8 * (1'000'000 / kRateErrorPpm);
  const std::int64_t now = reference.monotonic_ns();
  last_ns_ = std::min(now, gauge_ns());
  last_ = counter();
  hold_against(last_, now);
}

void WideCounter::resume() {
  const std::int64_t now = reference_->monotonic_ns();
  const std::int64_t gauge = std::min(now, gauge_ns());
  std::uint64_t last = last_.load(std::memory_order_acquire);
  const std::uint64_t resumed = last + ((counter() - last) & mask_);
  hold_against(resumed, now);
  if (!last_.compare_exchange_strong(last, resumed, std::memory_order_acq_rel)) return;
  last_ns_.store(gauge, std::memory_order_release);
}

void WideCounter::hold_against(std::uint64_t cycles, std::int64_t ns) {
  const auto passed = static_cast<std::uint64_t>(UInt128(ns) * driver_.rate_hz / kSecond);
  origin_.store(cycles - passed, std::memory_order_relaxed);
  held_ns_.store(ns, std::memory_order_relaxed);
}

std::uint64_t WideCounter::expected(std::int64_t ns) const {
  return origin_.load(std::memory_order_relaxed) +
         static_cast<std::uint64_t>(UInt128(ns) * driver_.rate_hz / kSecond);
}

std::uint64_t WideCounter::read() {
  for (;;) {
    const std::int64_t last_ns = last_ns_.load(std::memory_order_acquire);
    const std::int64_t before = gauge_ns();
    std::uint64_t last = last_.load(std::memory_order_acquire);
    const std::uint64_t distance = (counter() - last) & mask_;
    // This must follow the counter: it is what bounds the gap from above.
    if (gauge_ns() - last_ns > gap_max_ns_) [[unlikely]]
      return bridge(last);
    if (distance == 0 || distance > three_quarters(mask_)) return last;
    const std::uint64_t now = last + distance;
    if (last_.compare_exchange_strong(last, now, std::memory_order_acq_rel)) {
      last_ns_.store(before, std::memory_order_release);
      return now;
    }
    // Another thread was faster; is it as far as we?
    if (last >= now) return last;
  }
}

std::uint64_t WideCounter::bridge(std::uint64_t last) {
  for (int attempt = 0;; ++attempt) {
    const std::int64_t gauge = gauge_ns();
    const std::int64_t before = reference_->monotonic_ns();
    const std::uint64_t read = counter();
    const std::int64_t after = reference_->monotonic_ns();
    // A thread that was preempted in between tries again, since its answer would be in doubt.
    if (after - before > gap_max_ns_ / 8 && attempt < kAttemptsMax) continue;
    const std::uint64_t now = nearest(read, expected(before + (after - before) / 2), last);
    if (now == last) return last;
    const bool was_gap = now - last > three_quarters(mask_);
    if (!last_.compare_exchange_strong(last, now, std::memory_order_acq_rel)) continue;
    last_ns_.store(std::min(before, gauge), std::memory_order_release);
    // If not, the reading thread was preempted for long, and the counter was not left alone.
    if (was_gap) count_gap(after);
    return now;
  }
}

// The value next to `expected` whose low bits are those that were read, but not before `last`.
std::uint64_t WideCounter::nearest(std::uint64_t read, std::uint64_t expected,
                                   std::uint64_t last) const {
  const std::uint64_t begin = expected - (mask_ / 2 + 1);
  std::uint64_t now = begin + ((read - begin) & mask_);
  if (now < last && last - now <= mask_ / 4) return last;
  while (static_cast<std::int64_t>(now - last) < 0) now += mask_ + 1;
  return now;
}

void WideCounter::count_gap(std::int64_t now) {
  gaps_.fetch_add(1, std::memory_order_relaxed);
  if (now - held_ns_.load(std::memory_order_relaxed) <= certain_ns_) return;
  doubts_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace tallyfs
