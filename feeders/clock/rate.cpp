#include "feeders/clock/rate.h"

#include <algorithm>
#include <cmath>

namespace tally {
namespace {

// The least that a rate is taken over.
constexpr std::int64_t kBaseMin = 50'000;
constexpr std::int64_t kGoodForMin = 100'000;
constexpr std::int64_t kGoodForMax = 800'000;

double cycles_between(const Anchor& from, const Anchor& to) {
  return static_cast<double>(to.cycles - from.cycles);
}
double ns_between(const Anchor& from, const Anchor& to) {
  return static_cast<double>(to.ns - from.ns);
}

}  // namespace

void Rate::begin(const Anchor& anchor, double hz) {
  set_hz(hz);
  base_ = next_base_ = last_ = anchor;
  base_ns_ = 0;
  is_measured_ = false;
}

void Rate::set_hz(double hz) {
  hz_ = hz;
  per_cycle_ = static_cast<std::uint64_t>(1e9 / hz * 0x1p32);
}

Rate::Seen Rate::add(const Anchor& anchor) {
  const Seen seen = judge(anchor);
  if (seen != Seen::kSteady) base_ = next_base_ = last_;
  const std::int64_t base_ns = anchor.ns - base_.ns;
  const double cycles = cycles_between(base_, anchor);
  if (base_ns >= kBaseMin && cycles > 0) {
    const double ns = ns_between(base_, anchor);
    set_hz(cycles / ns * 1e9);
    base_ns_ = base_ns;
    const double error = (base_.error_cycles + anchor.error_cycles) / cycles;
    is_measured_ = is_measured_ || error * 1e6 < kChangePpm / 4;
  }
  if (anchor.ns - next_base_.ns >= kBaseMax) {
    base_ = next_base_;
    next_base_ = anchor;
  }
  last_ = anchor;
  return seen;
}

// Does the way from the last anchor agree with the rate?
Rate::Seen Rate::judge(const Anchor& anchor) const {
  const double ns = ns_between(last_, anchor);
  if (!is_measured_ || ns <= 0) return Seen::kSteady;
  const double off_ns = std::abs(ns - cycles_between(last_, anchor) * ns_per_cycle());
  const double doubt_ns = (last_.error_cycles + anchor.error_cycles) * ns_per_cycle() + 2;
  if (off_ns > doubt_ns + ns * kChangePpm / 1e6) return Seen::kChange;
  return off_ns > 2 * doubt_ns + ns * kKinkPpm / 1e6 ? Seen::kKink : Seen::kSteady;
}

std::int64_t Rate::good_for_ns() const {
  return std::clamp(4 * base_ns_, kGoodForMin, kGoodForMax);
}

}  // namespace tally
