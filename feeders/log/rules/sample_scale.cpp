#include "feeders/log/rules/sample_scale.h"

#include "core/base/unit_factor.h"

namespace tallyfs::logs {

std::string difference(const SampleScale& scale, const SampleScale& other) {
  if (have_one_scale({scale.units, scale.decimals}, {other.units, other.decimals})) return {};
  std::string words;
  if (scale.units != other.units) {
    words = scale.units.empty() ? "no units" : "units=" + scale.units;
  }
  if (scale.decimals == other.decimals) return words;
  return words + (words.empty() ? "" : " ") + "decimals=" + std::to_string(scale.decimals);
}

}  // namespace tallyfs::logs
