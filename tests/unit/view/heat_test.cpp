#include "core/view/heat.h"

#include <gtest/gtest.h>

#include "core/view/heat_axis.h"

namespace tallyfs::view {
namespace {

TEST(HeatTopTest, RisesAtOnceAndFallsAfterAWholeWindow) {
  HeatTop top(3);
  top.add(100);
  EXPECT_EQ(top.top(), 128);
  top.add(5);
  top.add(5);
  EXPECT_EQ(top.top(), 128);
  top.add(5);
  EXPECT_EQ(top.top(), 8);
  top.add(1000);
  EXPECT_EQ(top.top(), 1024);
}

Statistic with_buckets(std::vector<std::int32_t> indexes, std::vector<Int128> counts) {
  Statistic made{.name = "us", .on = true, .type = "quantiles", .units = "microseconds/requests"};
  made.definition = {{"precision", "5"}, {"quantiles", "50"}};
  Quantiles values;
  values.positive = {std::move(indexes), std::move(counts)};
  made.values = values;
  return made;
}

TEST(HeatAxisTest, AnIntervalHasTheBinsOfAllAndItsOwnCounts) {
  const Statistic all = with_buckets({-420, -416, -300, -100}, {10, 20, 30, 40});
  const Statistic interval = with_buckets({-416, -100}, {7, 2});
  const Distribution made = binned(all, &interval, 100);
  EXPECT_EQ(made.total(), 9);
  EXPECT_EQ(made.bins.size(), binned(all, nullptr, 100).bins.size());
  EXPECT_EQ(made.bins.front().count, 7);
  EXPECT_EQ(made.bins.back().count, 2);
  EXPECT_EQ(binned(all, &interval, 4).total(), 9);
  EXPECT_LE(binned(all, &interval, 4).bins.size(), 4u);
}

TEST(HeatMapTest, LegendAndAxisAreDrawnOnceAndAgainWhenTheyChange) {
  Look look{.charset = Charset::kAscii, .clock = [](std::uint64_t) { return "03:13:42"; }};
  HeatMap map(look, Colours::kNone, Steps::kLog);
  const Statistic all{.name = "depth",
                      .on = true,
                      .type = "array",
                      .values = Array{.bounds = {0, 2}, .counts = {0, 9, 0}}};
  Statistic interval = all;
  interval.values = Array{.bounds = {0, 2}, .counts = {0, 3, 0}};
  const Change change{.micros = 1'000'000, .samples = 3, .counted = interval};
  Grid first(100, Charset::kAscii);
  map.draw_line(first, all, change, 0, 0);
  EXPECT_EQ(first.height(), 3) << first.text();
  Grid second(100, Charset::kAscii);
  map.draw_line(second, all, change, 0, 1);
  EXPECT_EQ(second.text(),
            "03:13:42  |//////| 1 interval missed\n"
            "03:13:42  |  %%  |       3        1        2\n");
  Grid reset(100, Charset::kAscii);
  map.draw_line(reset, all, {.micros = 1'000'000, .samples = 3}, 0, 0);
  EXPECT_EQ(reset.text(), "03:13:42  |......| reset\n");
}

}  // namespace
}  // namespace tallyfs::view
