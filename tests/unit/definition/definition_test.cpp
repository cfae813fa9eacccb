#include "core/definition/definition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace tallyfs {
namespace {

TEST(DefinitionTest, NoTypeHasALineShorterThanTheShortest) {
  const Settings each[] = {ValueSettings{}, RangeSettings{},   ListSettings{},
                           ArraySettings{}, HistorySettings{}, RawSettings{}};
  static_assert(std::size(each) == std::variant_size_v<Settings>);
  std::size_t shortest = static_cast<std::size_t>(-1);
  for (const Settings& settings : each) {
    std::string line;
    append_line(line, "", {.range_min = 0, .range_max = 0, .settings = settings, .units = ""}, {});
    shortest = std::min(shortest, line.size());
  }
  EXPECT_EQ(shortest, kShortestDefinitionLine.size());
}

}  // namespace
}  // namespace tallyfs
