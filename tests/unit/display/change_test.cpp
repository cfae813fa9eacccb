#include "tools/display/change.h"

#include <gtest/gtest.h>

#include <limits>

namespace tallyfs::view {
namespace {

Interface snapshot(std::uint64_t seconds, std::uint64_t samples, Values values) {
  Statistic statistic{.name = "x", .on = true, .type = "any"};
  statistic.data_us = 1;
  statistic.samples = samples;
  statistic.values = std::move(values);
  return {.name = "web",
          .epoch = "a",
          .serial = 1,
          .time_us = seconds * 1'000'000,
          .realtime_us = seconds * 1'000'000,
          .statistics = {statistic}};
}

Change change(const Interface& before, const Interface& after) {
  return change_between(before, after, "x");
}

TEST(ChangeTest, RatesAreOfTheSnapshotsTime) {
  const Change made = change(snapshot(10, 100, Value{100}), snapshot(12, 300, Value{300}));
  EXPECT_EQ(made.rate(), 100.0);
  EXPECT_EQ(std::get<Value>(made.counted->values).total, 200);
  EXPECT_EQ(made.counted->data_us, 10'000'000u);
}

TEST(ChangeTest, AfterAResetSamplesGoOnAndTotalsAreUnknown) {
  Interface after = snapshot(11, 150, Value{3});
  after.statistics[0].data_us = 2;
  const Change made = change(snapshot(10, 100, Value{100}), after);
  EXPECT_EQ(made.rate(), 50.0);
  EXPECT_FALSE(made.counted);
}

TEST(ChangeTest, AfterARestartAllIsUnknown) {
  Interface after = snapshot(11, 150, Value{150});
  after.epoch = "b";
  EXPECT_FALSE(change(snapshot(10, 100, Value{100}), after).samples);
}

TEST(ChangeTest, AStatisticThatWasMadeAnewIsUnknown) {
  const Change made = change(snapshot(10, 100, Value{100}), snapshot(11, 5, Value{5}));
  EXPECT_FALSE(made.samples);
  EXPECT_FALSE(made.counted);
}

TEST(ChangeTest, ARemovedOneIsUnknown) {
  EXPECT_FALSE(change_between(snapshot(10, 1, Value{1}), snapshot(11, 1, Value{1}), "y").samples);
}

TEST(ChangeTest, AFallOrTheEndOfACounterIsUnknown) {
  EXPECT_FALSE(difference(Value{10}, Value{9}));
  const Int128 end = std::numeric_limits<std::uint64_t>::max();
  EXPECT_FALSE(difference(Value{10}, Value{end}));
  EXPECT_TRUE(difference(Value{Int128{1} << 70}, Value{(Int128{1} << 70) + 1}));
}

TEST(ChangeTest, ListsAreSubtractedByValue) {
  const auto made = difference(List{{1, 5}, {10, 2}}, List{{1, 3, 5}, {15, 7, 2}});
  ASSERT_TRUE(made);
  EXPECT_EQ(std::get<List>(*made).x, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(std::get<List>(*made).totals, (std::vector<Int128>{5, 7}));
  EXPECT_FALSE(difference(List{{1, 5}, {10, 2}}, List{{1}, {15}}));
}

TEST(ChangeTest, ArraysAreSubtractedByBin) {
  const auto made =
      difference(Array{.bounds = {1}, .counts = {5, 6}}, Array{.bounds = {1}, .counts = {6, 6}});
  EXPECT_EQ(std::get<Array>(*made).counts, (std::vector<Int128>{1, 0}));
  EXPECT_FALSE(
      difference(Array{.bounds = {1}, .counts = {5, 6}}, Array{.bounds = {2}, .counts = {6, 6}}));
}

TEST(ChangeTest, OfARangeOnlyTheAverageOfAnIntervalIsKnown) {
  const auto made = difference(Range{.number = 2, .min = 1, .avg = 2.0, .max = 3, .sum = 4},
                               Range{.number = 4, .min = 1, .avg = 6.0, .max = 15, .sum = 24});
  const Range& range = std::get<Range>(*made);
  EXPECT_EQ(range.number, 2u);
  EXPECT_EQ(range.avg, 10.0);
  EXPECT_FALSE(range.max);
}

TEST(ChangeTest, BucketsAreSubtractedByIndex) {
  Quantiles before{.all = {.number = 3, .sum = 3}};
  before.positive = {{1, 4}, {1, 2}};
  Quantiles after{.all = {.number = 5, .sum = 9}};
  after.positive = {{1, 3, 4}, {1, 2, 2}};
  const auto made = difference(before, after);
  EXPECT_EQ(std::get<Quantiles>(*made).positive.indexes, (std::vector<std::int32_t>{3}));
  EXPECT_FALSE(difference(after, before));
}

TEST(ChangeTest, OfAHistoryThePeriodsThatCameOrGrewAreNew) {
  const History before{.end_us = {1, 2, 3}, .totals = {10, 20, 30}};
  const History after{.end_us = {2, 3, 4}, .totals = {20, 35, 1}};
  const auto made = std::get<History>(entries_since(before, after));
  EXPECT_EQ(made.end_us, (std::vector<std::uint64_t>{3, 4}));
  EXPECT_EQ(made.totals, (std::vector<Int128>{35, 1}));
  EXPECT_TRUE(std::get<History>(entries_since(after, after)).end_us.empty());
  EXPECT_EQ(std::get<History>(entries_since(History{}, after)).end_us, after.end_us);
}

TEST(ChangeTest, OfAHistoryEachColumnCounts) {
  const History before{.end_us = {1, 2},
                       .number = {1, 1},
                       .min = {5, {}},
                       .avg = {5.0, 6.0},
                       .max = {5, 7},
                       .quantiles = {{"99", {5, 7}}}};
  History after = before;
  after.quantiles[0].values[0] = 6;
  const auto made = std::get<History>(entries_since(before, after));
  EXPECT_EQ(made.end_us, std::vector<std::uint64_t>{1});
  EXPECT_EQ(made.quantiles[0].values, std::vector<std::optional<std::int64_t>>{6});
  EXPECT_EQ(made.min, std::vector<std::optional<std::int64_t>>{5});
  after = before;
  after.min[1] = 1;
  EXPECT_EQ(std::get<History>(entries_since(before, after)).end_us, std::vector<std::uint64_t>{2});
}

TEST(ChangeTest, OfRawTheSamplesThatCameAreNew) {
  const Raw before{.time_us = {1, 2}, .serial = {7, 8}, .x = {5, 5}, .y = {1, 1}};
  const Raw after{.time_us = {2, 2}, .serial = {8, 9}, .x = {5, 6}, .y = {1, 3}};
  const auto made = std::get<Raw>(entries_since(before, after));
  EXPECT_EQ(made.serial, std::vector<std::uint64_t>{9});
  EXPECT_EQ(made.x, std::vector<std::int64_t>{6});
  EXPECT_EQ(made.time_us, std::vector<std::uint64_t>{2});
  EXPECT_EQ(made.y, std::vector<std::uint64_t>{3});
  EXPECT_EQ(std::get<Raw>(entries_since(Raw{}, after)).serial, after.serial);
}

}  // namespace
}  // namespace tallyfs::view
