#include "feeders/log/rules/sample_scale.h"

#include "core/base/unit_factor.h"

namespace tallyfs::logs {

std::string difference(const SampleScale& scale, unsigned decimals, std::string_view units) {
  if (scale.decimals != decimals) return "decimals=" + std::to_string(scale.decimals);
  // Most have the same text, which needs no look at its words.
  if (scale.units == units || have_one_scale({scale.units}, {units})) return {};
  return scale.units.empty() ? "no units" : "units=" + scale.units;
}

}  // namespace tallyfs::logs
