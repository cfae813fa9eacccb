#include "core/tracing/branch/probe_profile.h"

#include <algorithm>

namespace tallyfs::tracing {
namespace {

constexpr std::size_t kNameWidth = 44, kHitsWidth = 15;

}  // namespace

const PlaceState* PlaceStates::next(const Probes::Place& place) {
  std::string word = place.text.substr(0, place.text.find(' '));
  const auto found = hits_.find({serial_, word});
  if (found == hits_.end()) return nullptr;
  const std::size_t nth = met_[std::move(word)]++;
  return nth < found->second.size() ? &found->second[nth] : nullptr;
}

// No path has a blank: the kernel takes none.
std::string probe_profile(const std::vector<std::pair<EventPath, Probes::Probe>>& probes,
                          const ProbeHits& hits) {
  std::string text;
  for (const auto& [path, probe] : probes) {
    PlaceStates states(hits, probe.serial);
    for (const Probes::Place& place : probe.places) {
      const PlaceState* const state = states.next(place);
      if (!state) continue;
      const std::string word = place.text.substr(0, place.text.find(' '));
      const std::string number = std::to_string(state->hits);
      text.append("  ").append(word, 0, word.rfind(':')).append(" ").append(path.second);
      text.append(kNameWidth - std::min(path.second.size(), kNameWidth), ' ').append(" ");
      text.append(kHitsWidth - std::min(number.size(), kHitsWidth), ' ').append(number);
      text.push_back('\n');
    }
  }
  return text;
}

}  // namespace tallyfs::tracing
