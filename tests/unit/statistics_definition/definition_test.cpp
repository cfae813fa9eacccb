#include "core/statistics/definition/definition.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tallyfs::statistics {
namespace {

TEST(DefinitionTest, NoTypeHasALineShorterThanTheShortest) {
  std::size_t shortest = static_cast<std::size_t>(-1);
  each_type([&]<typename S>() {
    std::string line;
    append_line(line, "", {.range_min = 0, .range_max = 0, .settings = S{}, .units = ""}, {});
    shortest = std::min(shortest, line.size());
  });
  EXPECT_EQ(shortest, kShortestDefinitionLine.size());
}

}  // namespace
}  // namespace tallyfs::statistics
