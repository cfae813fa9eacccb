#include "feeders/clock/wall.h"

#include <algorithm>
#include <cstdlib>

namespace tallyfs {
namespace {

constexpr std::int64_t kDay = 86'400 * kSecond;
// A step that is a second but for this is a leap second's.
constexpr std::int64_t kLeapError = 1'000;

}  // namespace

void Wall::begin(std::int64_t now, const Interval& ahead) {
  newest_ = 0;
  size_ = 1;
  settings_[0] = {.begun = {INT64_MIN, INT64_MIN}, .ahead = ahead};
  looked_ = now;
  open_ns_ = 0;
}

void Wall::look(const Interval& when, const Interval& ahead, Cause cause) {
  if (settings_[newest_].ahead.meets(ahead)) return confirm(when.low, ahead);
  ++steps_;
  last_step_ns_ = ahead.middle() - settings_[newest_].ahead.middle();
  const Setting next = step(when.high, ahead, cause);
  newest_ = (newest_ + 1) % kStepsMax;
  size_ = std::min(size_ + 1, kStepsMax);
  settings_[newest_] = next;
  looked_ = when.low;
  open_ns_ = 0;
}

void Wall::confirm(std::int64_t now, const Interval& ahead) {
  Interval& known = settings_[newest_].ahead;
  if (ahead.high - ahead.low > std::max(kConfirming, known.high - known.low)) {
    open_ns_ = std::max({open_ns_, ahead.high - known.low, known.high - ahead.low});
    return;
  }
  known = known.narrowed_by(ahead);
  looked_ = now;
  open_ns_ = 0;
}

Wall::Setting Wall::step(std::int64_t now, const Interval& ahead, Cause cause) {
  if (const auto begun = leap(now, ahead)) {
    ++leap_seconds_;
    return {.begun = *begun, .ahead = ahead, .likely = begun->low};
  }
  const Interval begun = {looked_, now};
  return {.begun = begun,
          .ahead = ahead,
          .likely = cause == Cause::kTold ? begun.high : begun.middle()};
}

// Between which times it was, if it was one.
std::optional<Interval> Wall::leap(std::int64_t now, const Interval& ahead) const {
  const std::int64_t before = settings_[newest_].ahead.middle();
  const std::int64_t step = ahead.middle() - before;
  if (std::abs(std::abs(step) - kSecond) > kLeapError) return std::nullopt;
  // The last midnight, or the second before it, as the wall clock told it before the step.
  const std::int64_t early = step > 0 ? kSecond : 0;
  const std::int64_t midnight = (now + before + early) / kDay * kDay;
  const std::int64_t at = midnight - early - before;
  const Interval begun = {std::max(at, looked_), std::min(at + kLeapLateMax, now)};
  if (begun.low > begun.high) return std::nullopt;
  return begun;
}

std::optional<Wall::Offset> Wall::at(std::int64_t time) const {
  const std::int64_t open = time > looked_ ? open_ns_ : 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const auto& [begun, ahead, likely] = back(i);
    if (time >= begun.high) return Offset{ahead.middle(), ahead.error() + open};
    if (time < begun.low) continue;
    if (i + 1 == size_) break;
    const Interval& before = back(i + 1).ahead;
    const Interval& guess = time < likely ? before : ahead;
    return Offset{guess.middle(), std::abs(ahead.middle() - before.middle()) + ahead.error() +
                                      before.error() + open};
  }
  return std::nullopt;
}

}  // namespace tallyfs
