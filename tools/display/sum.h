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

// nullopt: they cannot be added.
std::optional<Values> sum(const Values& a, const Values& b);

// The labels of all statistics, each once.
std::vector<std::string> labels_of(const std::vector<const Statistic*>& statistics);

// "there is no label 'route'; the labels are code host": why nothing is added up.
std::string no_label_text(const std::string& label, const std::vector<std::string>& labels);

// A statistic that does not add up: by itself, or with the first one of its sum.
struct LeftOut {
  std::string name;
  std::string sum;     // which it would be part of
  std::string reason;  // "its units are bytes, not seconds"
};

struct Sums {
  std::vector<Statistic> statistics;  // `latency{route:/cart}`; `latency`: without that label
  std::vector<std::vector<std::string>> parts;  // the names of which each of them is made
  std::vector<LeftOut> left_out;
};
// Where a sum's data begin: where the newest of its parts do, so that it is of one time; or, of a
// span, the oldest, as a part that came later had no samples before.
enum class Begin { kOfNewest, kOfOldest };
// Whether one of the parts of a sum is not there any more: what it has counted since then is not
// known. Both are in the interface's order.
bool has_lost_part(const std::vector<std::string>& before, const std::vector<std::string>& now);
// In the order in which the sums come up. The definition of a sum has the keys in which its parts
// agree.
Sums sums_by(std::string_view label, const std::vector<const Statistic*>& statistics,
             Begin begin = Begin::kOfNewest);

}  // namespace tallyfs::view
