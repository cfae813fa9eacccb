// Statistics of one family, `latency{route:/cart,code:200}`, added up over their labels but one.
// Values, ranges, arrays of the same bounds and percentiles of the same precision add up. Pure
// functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/display/statistic.h"

namespace tallyfs::view {

// Nothing: they do not add up.
std::optional<Values> sum(const Values& a, const Values& b);

// The labels that there are, each once.
std::vector<std::string> labels_of(const std::vector<const Statistic*>& statistics);

struct Sums {
  std::vector<Statistic> statistics;  // `latency{route:/cart}`; `latency`: without that label
  std::size_t left_out = 0;           // statistics that do not add up with the first of their sum
};
// In the order in which the sums come up. A sum's data begin where the newest of its parts do.
Sums sums_by(std::string_view label, const std::vector<const Statistic*>& statistics);

}  // namespace tallyfs::view
