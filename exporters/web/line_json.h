// The counts of a statistic over time, as lines: a value's growth, a range's averages, the X of a
// type=last, the p99 of bins, and for a list the growth of its five largest entries, which the page
// stacks. Columns are merged if there are more than the page can show. A pure function.
#pragma once

#include <cstddef>
#include <string>

#include "exporters/web/span.h"

namespace tallyfs::web {

struct LineOrder {
  std::size_t seconds = 60;
  std::size_t columns_max = 300;
};

inline constexpr std::size_t kStacksMax = 5;

std::string line_json(const std::string& interface, const PastReading& reading,
                      const LineOrder& order);

}  // namespace tallyfs::web
