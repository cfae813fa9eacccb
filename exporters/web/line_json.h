// What a statistic counted over time, as lines: of a value its growth, of a range its averages, of
// a type=last its X, of bins their p99, of a list the growth of its five largest, to be stacked.
// Columns merge where there are more than the page can show. A pure function.
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
