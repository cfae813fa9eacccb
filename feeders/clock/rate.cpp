#include "feeders/clock/rate.h"

#include <algorithm>
#include <cmath>

namespace tallyfs {
namespace {

constexpr std::int64_t kGoodForMin = 100'000;
constexpr std::int64_t kGoodForMax = 800'000;

double cycles_between(const Anchor& from, const Anchor& to) {
  return static_cast<double>(to.cycles - from.cycles);
}
double ns_between(const Anchor& from, const Anchor& to) {
  return static_cast<double>(to.ns - from.ns);
}
double error_cycles(const Anchor& from, const Anchor& to) {
  return static_cast<double>(from.error_cycles + to.error_cycles);
}

}  // namespace

void Rate::begin(const Anchor& anchor, double hz) {
  set_hz(hz);
  base_ = next_base_ = last_ = anchor;
  ticked_ns_ = anchor.ns;
  base_ns_ = 0;
  is_measured_ = false;
}

void Rate::set_hz(double hz) {
  hz_ = hz;
  per_cycle_ = static_cast<std::uint64_t>(1e9 / hz * 0x1p32);
}

Rate::Observation Rate::add(const Anchor& anchor) {
  const Observation seen = judge(anchor);
  switch (seen) {
    case Observation::kJump:
    case Observation::kStop:
      return seen;
    case Observation::kKink:
      base_ = next_base_ = last_;
      break;
    case Observation::kChange:
      base_ = next_base_ = anchor;
      is_measured_ = false;
      break;
    case Observation::kSteady:
      break;
  }
  if (anchor.cycles != last_.cycles) ticked_ns_ = anchor.ns;
  measure(anchor);
  last_ = anchor;
  return seen;
}

void Rate::measure(const Anchor& anchor) {
  const std::int64_t base_ns = anchor.ns - base_.ns;
  const double cycles = cycles_between(base_, anchor);
  const double error = error_cycles(base_, anchor);
  if (base_ns >= kBaseMin && error < cycles * kErrorMax) {
    set_hz(cycles / static_cast<double>(base_ns) * 1e9);
    base_ns_ = base_ns;
    error_ = error / cycles;
    is_measured_ = true;
  }
  // A slow counter needs more than a second for as many steps.
  if (anchor.ns - next_base_.ns >= kBaseMax &&
      error_cycles(next_base_, anchor) < cycles_between(next_base_, anchor) * kErrorMax) {
    base_ = next_base_;
    next_base_ = anchor;
  }
}

// Does the way from the last anchor agree with the rate?
Rate::Observation Rate::judge(const Anchor& anchor) const {
  const double ns = ns_between(last_, anchor);
  const double cycles = cycles_between(last_, anchor);
  if (ns <= 0) return Observation::kSteady;
  const double stood = static_cast<double>(anchor.ns - ticked_ns_);
  if (cycles == 0 && stood >= kStopMin && stood > kStopCycles * ns_per_cycle())
    return Observation::kStop;
  if (!is_measured_) return Observation::kSteady;
  const double off_ns = std::abs(ns - cycles * ns_per_cycle());
  const double doubt_ns = error_cycles(last_, anchor) * ns_per_cycle() + 2;
  const double rate_ns = ns * error_;
  const double by_rate = cycles * ns_per_cycle();
  if (by_rate > 2 * ns + doubt_ns || by_rate < ns / 2 - doubt_ns) return Observation::kJump;
  if (off_ns > doubt_ns + rate_ns + ns * kChange) return Observation::kChange;
  return off_ns > 2 * doubt_ns + rate_ns + ns * kKink ? Observation::kKink : Observation::kSteady;
}

std::int64_t Rate::good_for_ns() const {
  if (!is_measured_) return 0;
  return std::clamp(4 * base_ns_, kGoodForMin, kGoodForMax);
}

}  // namespace tallyfs
