#include "feeders/kernel/leaving_probes.h"

#include <algorithm>
#include <utility>

namespace tallyfs {

void LeavingProbes::add(std::string event, Time now, Time not_before) {
  leaving_.push_back({std::move(event), now + kStay, not_before});
}

void LeavingProbes::put_back(std::string event, Time now) {
  leaving_.push_back({std::move(event), {}, now + kTryAgain});
}

bool LeavingProbes::has(const std::string& event) const {
  return std::ranges::find(leaving_, event, &Leaving::event) != leaving_.end();
}

LeavingProbes::Time LeavingProbes::when(const Leaving& each, Activity activity) const {
  if (activity == Activity::kIdle) return each.not_before;
  const Time from = std::max(each.not_before, next_removal_from_);
  return leaving_.size() > kEnough ? from : std::max(from, each.stays_until);
}

template <typename Goes>
std::optional<std::string> LeavingProbes::take(const Goes& goes) {
  const auto found = std::ranges::find_if(leaving_, goes);
  if (found == leaving_.end()) return std::nullopt;
  std::string event = std::move(found->event);
  leaving_.erase(found);
  return event;
}

std::optional<std::string> LeavingProbes::take_due(Time now, Activity activity) {
  return take([&](const Leaving& each) { return when(each, activity) <= now; });
}

std::optional<std::string> LeavingProbes::take_surplus(Time now) {
  if (leaving_.size() <= kMost) return std::nullopt;
  return take([now](const Leaving& each) { return each.not_before <= now; });
}

std::optional<LeavingProbes::Time> LeavingProbes::next(Activity activity) const {
  std::optional<Time> first;
  for (const Leaving& each : leaving_) {
    const Time then = when(each, activity);
    if (!first || then < *first) first = then;
  }
  return first;
}

}  // namespace tallyfs
