#include "core/tracing/branch/probe_profile.h"

#include <algorithm>

namespace tallyfs::tracing {
namespace {

constexpr std::size_t kNameWidth = 44, kHitsWidth = 15;

void add_number(std::string& text, std::uint64_t number) {
  const std::string digits = std::to_string(number);
  text.append(" ").append(kHitsWidth - std::min(digits.size(), kHitsWidth), ' ').append(digits);
}

}  // namespace

const PlaceState* PlaceStates::next(const Probes::Place& place) {
  std::string word = place.text.substr(0, place.text.find(' '));
  const auto found = hits_.places.find({serial_, word});
  if (found == hits_.places.end()) return nullptr;
  const std::size_t nth = met_[std::move(word)]++;
  return nth < found->second.size() ? &found->second[nth] : nullptr;
}

std::string probe_profile(const std::vector<std::pair<EventPath, Probes::Probe>>& probes,
                          const ProbeHits& hits, ProbeTarget target) {
  std::string text;
  for (const auto& [path, probe] : probes) {
    if (probe.target != target) continue;
    PlaceStates states(hits, probe.serial);
    for (const Probes::Place& place : probe.places) {
      const PlaceState* const state = states.next(place);
      if (!state) continue;
      text.append("  ");
      // No path has a blank: the kernel takes none.
      const std::string word = place.text.substr(0, place.text.find(' '));
      const bool is_in_kernel = target == ProbeTarget::kKernel;
      if (!is_in_kernel) text.append(word, 0, word.rfind(':')).append(" ");
      text.append(path.second);
      text.append(kNameWidth - std::min(path.second.size(), kNameWidth), ' ');
      add_number(text, state->hits);
      if (is_in_kernel) add_number(text, state->missed);
      text.push_back('\n');
    }
  }
  return text;
}

}  // namespace tallyfs::tracing
