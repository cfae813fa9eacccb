#include "feeders/clock/wall.h"

#include <algorithm>
#include <cstdlib>

namespace tally {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;
// A step that is a second but for this is a leap second's.
constexpr std::int64_t kLeapError = 1'000;

}  // namespace

void Wall::begin(std::int64_t now, const Between& ahead) {
  newest_ = 0;
  size_ = 1;
  settings_[0] = {{INT64_MIN, INT64_MIN}, ahead};
  looked_ = now;
}

void Wall::look(std::int64_t now, const Between& ahead, Cause cause) {
  Setting& known = settings_[newest_];
  if (known.ahead.meets(ahead)) {
    known.ahead = known.ahead.narrowed_by(ahead);
  } else {
    ++steps_;
    last_step_ns_ = ahead.middle() - known.ahead.middle();
    const Between begun = date(now, ahead, cause);
    newest_ = (newest_ + 1) % kStepsMax;
    size_ = std::min(size_ + 1, kStepsMax);
    settings_[newest_] = {begun, ahead};
  }
  looked_ = now;
}

Between Wall::date(std::int64_t now, const Between& ahead, Cause cause) {
  if (const auto exact = leap(now, ahead)) {
    ++leap_seconds_;
    return {*exact, *exact};
  }
  if (cause == Cause::kTold) return {std::max(looked_, now - kWakeMax), now};
  return {looked_, now};
}

std::optional<std::int64_t> Wall::leap(std::int64_t now, const Between& ahead) const {
  const std::int64_t before = settings_[newest_].ahead.middle();
  const std::int64_t step = ahead.middle() - before;
  if (std::abs(std::abs(step) - kSecond) > kLeapError) return std::nullopt;
  // The last midnight, or the second before it, as the wall clock told it before the step.
  const std::int64_t early = step > 0 ? kSecond : 0;
  const std::int64_t midnight = (now + before + early) / kDay * kDay;
  const std::int64_t at = midnight - early - before;
  if (at < looked_ || at > now) return std::nullopt;
  return at;
}

std::optional<Wall::Offset> Wall::at(std::int64_t time) const {
  for (std::size_t i = 0; i < size_; ++i) {
    const auto& [begun, ahead] = back(i);
    if (time >= begun.high) return Offset{ahead.middle(), ahead.error()};
    if (time < begun.low) continue;
    if (i + 1 == size_) break;
    const Between& before = back(i + 1).ahead;
    const Between& likely = time < begun.middle() ? before : ahead;
    return Offset{likely.middle(),
                  std::abs(ahead.middle() - before.middle()) + ahead.error() + before.error()};
  }
  return std::nullopt;
}

}  // namespace tally
