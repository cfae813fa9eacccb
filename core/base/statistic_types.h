// The types of statistics, by the names that definition lines have. The daemon's settings
// (core/statistics/definition/definition.h) and the values of readers (tools/display/statistic.h)
// are of each of them, or do not compile.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>
#include <variant>

namespace tallyfs {

// In the order in which people are offered them.
inline constexpr std::string_view kStatisticTypes[] = {"value",     "range", "list",    "array",
                                                       "quantiles", "last",  "history", "raw"};

// Whether there is one alternative of each type, by its kType, in any order.
template <typename... Each>
consteval bool has_each_type(const std::variant<Each...>*) {
  for (const std::string_view type : kStatisticTypes) {
    if (((Each::kType == type ? 1 : 0) + ... + 0) != 1) return false;
  }
  return sizeof...(Each) == std::size(kStatisticTypes);
}

}  // namespace tallyfs
