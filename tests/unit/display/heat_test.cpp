#include "tools/display/heat.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tools/display/heat_axis.h"
#include "tools/display/heat_panel.h"

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
            "03:13:42.0|//////| 1 interval missed\n"
            "03:13:42.0|  %%  |       3        1        2\n");
  Grid reset(100, Charset::kAscii);
  map.draw_line(reset, all, {.micros = 1'000'000, .samples = 3}, 0, 0);
  EXPECT_EQ(reset.text(), "03:13:42.0|......| reset\n");
}

TEST(HeatMapTest, NoTwoLinesHaveEqualTimes) {
  const auto clock = [](std::uint64_t realtime_us) {
    return "03:13:" + std::to_string(realtime_us / 1'000'000);
  };
  const Look look{.charset = Charset::kAscii, .clock = clock};
  const Statistic all{.name = "depth",
                      .on = true,
                      .type = "array",
                      .values = Array{.bounds = {0, 2}, .counts = {0, 9, 0}}};
  const auto times_of = [&](HeatMap map, std::vector<std::uint64_t> ends_us, std::uint64_t missed) {
    std::string times;
    std::uint64_t before_us = ends_us.front() - 1'000'000;
    for (const std::uint64_t end_us : ends_us) {
      Grid grid(100, Charset::kAscii);
      map.draw_line(grid, all, {.micros = end_us - before_us, .counted = all}, end_us, missed);
      before_us = end_us;
      std::istringstream lines(grid.text());
      for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("03:")) times += line.substr(6, line.find('|') - 6) + "|";
      }
    }
    return times;
  };
  using std::chrono::milliseconds;
  const auto map_of = [&](milliseconds period) {
    return HeatMap(look, Colours::kNone, Steps::kLog, period);
  };
  EXPECT_EQ(times_of(map_of(milliseconds(250)), {10'000'000, 10'250'000, 10'501'999}, 0),
            "10.000  |10.250  |10.501  |");
  // The second was read late, and the third again in time.
  EXPECT_EQ(
      times_of(map_of(milliseconds(1000)), {10'999'000, 12'003'000, 12'999'000, 14'000'000}, 0),
      "10  |12  |12.9|14  |");
  EXPECT_EQ(times_of(map_of(milliseconds(1000)), {13'000'000, 16'000'000}, 2),
            "12  |13  |15  |16  |");
}

std::string ends_of(const MissedTime& missed, std::size_t columns_max = 9) {
  std::deque<HeatColumn> columns = {{.realtime_us = 1}};
  append_missed(columns, missed, columns_max);
  std::string made;
  for (const HeatColumn& each : columns) {
    made += std::to_string(each.realtime_us) + (each.is_missed ? "/ " : " ");
  }
  return made;
}

TEST(HeatPanelTest, EachPeriodThatWasMissedHasAColumn) {
  EXPECT_EQ(ends_of({.end_us = 400, .length_us = 300, .period_us = 100}), "1 200/ 300/ 400/ ");
  EXPECT_EQ(ends_of({.end_us = 400, .length_us = 249, .period_us = 100}), "1 300/ 400/ ");
  EXPECT_EQ(ends_of({.end_us = 400, .length_us = 250, .period_us = 100}), "1 200/ 300/ 400/ ");
  EXPECT_EQ(ends_of({.end_us = 400, .length_us = 49, .period_us = 100}), "1 ");
  EXPECT_EQ(ends_of({.end_us = 400, .length_us = 300, .period_us = 100}, 2), "1 300/ 400/ ");
  EXPECT_EQ(ends_of({.end_us = 150, .length_us = 300, .period_us = 100}), "1 0/ 50/ 150/ ");
  EXPECT_EQ(ends_of({.end_us = 400, .length_us = 300, .period_us = 0}), "1 ");
}

// The last two lines of a panel with so many seconds from 10:00:07 on.
std::string time_axis_of(int seconds, int width) {
  const auto clock = [](std::uint64_t realtime_us) {
    const std::uint64_t second = realtime_us / 1'000'000 % 3600;
    const auto two = [](std::uint64_t number) { return std::to_string(number + 100).substr(1); };
    return std::string("10:").append(two(second / 60)).append(":").append(two(second % 60));
  };
  const Look look{.charset = Charset::kAscii, .clock = clock};
  const Statistic all{.name = "depth",
                      .on = true,
                      .type = "array",
                      .values = Array{.bounds = {0, 2}, .counts = {0, 9, 0}}};
  std::deque<HeatColumn> columns;
  for (int i = 0; i < seconds; ++i) {
    columns.push_back({.realtime_us = 36'007'000'000 + static_cast<std::uint64_t>(i) * 1'000'000,
                       .counted = all});
  }
  Grid grid(100, Charset::kAscii);
  draw_heat_panel(grid, {.row = 0, .column = 0, .width = width, .height = 5}, {all, columns}, look);
  const std::string text = grid.text();
  return text.substr(text.find("       +"));
}

TEST(HeatPanelTest, HasRoundTimesBetweenItsEnds) {
  EXPECT_EQ(time_axis_of(50, 60),
            "       +-----------------------+---------+----------------\n"
            "        10:00:07           10:00:30  10:00:40     10:00:56\n");
  EXPECT_EQ(time_axis_of(1, 60),
            "       +-\n"
            "        10:00:07\n");
  // Beside each other where the columns are few, and not beyond the panel.
  EXPECT_EQ(time_axis_of(3, 60),
            "       +---\n"
            "        10:00:07 10:00:09\n");
  EXPECT_EQ(time_axis_of(3, 20),
            "       +---\n"
            "        10:00:07\n");
}

}  // namespace
}  // namespace tallyfs::view
