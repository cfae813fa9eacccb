#include "tools/display/most_changed.h"

#include <gtest/gtest.h>

#include "tools/display/changed_reason.h"
#include "tools/display/portion.h"

namespace tallyfs::view {
namespace {

constexpr int kUnits = 10 * 60;

// Ten a unit, and `factor` times as many in the last units.
Past growing(int last, double factor) {
  Past past;
  for (int i = 0; i < kUnits; ++i) {
    past.add({.count = (9 + i % 3) * (i >= kUnits - last ? factor : 1)});
  }
  return past;
}

std::string reason(const ChangedRow& row, const Past& past, std::size_t in_interface,
                   const std::string& units = "") {
  const Look look;
  return reason_of({.row = &row, .past = &past, .in_interface = in_interface, .units = units},
                   look);
}

TEST(MostChangedTest, ThreeOfAnInterfaceThatChangedAlikeAreOneRow) {
  const std::vector<Past> pasts = {growing(30, 2), growing(32, 2.1), growing(30, 1), growing(28, 2),
                                   growing(30, 8)};
  const std::vector<Watched> watched = {{"web", &pasts[0]},
                                        {"web", &pasts[1]},
                                        {"web", &pasts[2]},
                                        {"web", &pasts[3]},
                                        {"db", &pasts[4]}};
  const auto rows = most_changed(watched);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].members, std::vector<std::size_t>{4});
  EXPECT_EQ(rows[1].members.size(), 3u);
  EXPECT_TRUE(rows[1].is_unusual);
  EXPECT_EQ(reason(rows[0], pasts[4], 1), "x8, 10/s -> 80/s");
  EXPECT_TRUE(reason(rows[1], pasts[1], 4).starts_with("3 of 4 statistics: rate x2."))
      << reason(rows[1], pasts[1], 4);
}

TEST(MostChangedTest, TwoOrThoseOfOtherTimesStayApart) {
  const std::vector<Past> pasts = {growing(30, 4), growing(30, 4), growing(15, 4)};
  const std::vector<Watched> watched = {{"web", &pasts[0]}, {"web", &pasts[1]}, {"web", &pasts[2]}};
  EXPECT_EQ(most_changed(watched).size(), 3u);
}

TEST(MostChangedTest, TooLittlePastIsNotRanked) {
  Past past;
  for (int i = 0; i < 2 * 60; ++i) past.add({.count = i < 90 ? 10.0 : 1000.0});
  const std::vector<Watched> watched = {{"web", &past}};
  EXPECT_TRUE(most_changed(watched).empty());
}

TEST(MostChangedTest, AShortBaselineNeedsAHigherScore) {
  const Past past = growing(60, 3);
  const std::vector<Watched> watched = {{"web", &past}};
  EXPECT_TRUE(most_changed(watched).front().is_unusual);
  const auto rows = most_changed(watched, {.baseline_spans = 2});
  EXPECT_LT(rows.front().behaviour.score, kUnusualShort);
  EXPECT_FALSE(rows.front().is_unusual);
}

TEST(MostChangedTest, ReasonsNameTheLevelAndSilence) {
  Past slower;
  for (int i = 0; i < kUnits; ++i) {
    const auto shift = static_cast<std::int16_t>(i >= kUnits - 20 ? 8 : 0);
    slower.add({.count = 10, .buckets = {{static_cast<std::int16_t>(40 + shift), 10}}});
  }
  const ChangedRow level{.members = {0},
                         .behaviour = {.score = 9, .channel = Channel::kLevel, .window = 4},
                         .onset = {.begin = 20}};
  EXPECT_EQ(reason(level, slower, 1, "microseconds/requests"),
            "slower x4, p99 1.2ms -> 4.9ms (200 samples)");
  // Counts that were spread over units have fractions.
  Past spread;
  for (int i = 0; i < kUnits; ++i) {
    const auto shift = static_cast<std::int16_t>(i >= kUnits - 20 ? 8 : 0);
    const float count = 3.595F;
    spread.add({.count = count, .buckets = {{static_cast<std::int16_t>(40 + shift), count}}});
  }
  EXPECT_EQ(reason(level, spread, 1, "microseconds/requests"),
            "slower x4, p99 1.2ms -> 4.9ms (71 samples)");
  const Past silent = growing(20, 0);
  const std::vector<Watched> watched = {{"db", &silent}};
  EXPECT_EQ(reason(most_changed(watched).front(), silent, 1), "silent, before 10/s");
}

TEST(MostChangedTest, PercentilesAreThoseOfTheStatisticOrLeftOut) {
  Past past;
  for (int i = 0; i < kUnits; ++i) {
    // The slowest stay, and the others become slower.
    const auto usual = static_cast<std::int16_t>(i >= kUnits - 20 ? 48 : 40);
    past.add({.count = 10, .buckets = {{usual, 9}, {60, 1}}});
  }
  const ChangedRow level{.members = {0},
                         .behaviour = {.score = 9, .channel = Channel::kLevel, .window = 4},
                         .onset = {.begin = 20}};
  EXPECT_EQ(reason(level, past, 1, "microseconds/requests"), "slower x3.5 (200 samples)");
  ChangedRow three = level;
  three.members = {0, 1, 2};
  EXPECT_EQ(reason(three, past, 4, "microseconds/requests"), "3 of 4 statistics: slower x3.5");
  EXPECT_EQ(reason_of({.row = &level,
                       .past = &past,
                       .in_interface = 1,
                       .units = "microseconds/requests",
                       .p99 = TwoPercentiles{"1.5ms", "12ms"}},
                      Look()),
            "slower x3.5, p99 1.5ms -> 12ms (200 samples)");
}

TEST(MostChangedTest, APercentileThatWentTheOtherWayIsNotTheReason) {
  Past past;
  for (int i = 0; i < kUnits; ++i) {
    const bool is_late = i >= kUnits - 20;
    const auto usual = static_cast<std::int16_t>(is_late ? 48 : 40);
    const auto slowest = static_cast<std::int16_t>(is_late ? 56 : 60);
    past.add({.buckets = {{usual, 9}, {slowest, 1}}});
  }
  const ChangedRow level{.members = {0},
                         .behaviour = {.score = 9, .channel = Channel::kLevel, .window = 4},
                         .onset = {.begin = 20}};
  EXPECT_EQ(reason(level, past, 1, "microseconds/requests"),
            "slower x3.2, avg 1.6ms -> 5.1ms (200 samples)");
}

TEST(MostChangedTest, ReasonsNameTheShareOfATailAndAGauge) {
  Past tail;
  Past gauge;
  for (int i = 0; i < kUnits; ++i) {
    const bool is_late = i >= kUnits - 20;
    const float slow = is_late ? 4 : 0;
    tail.add({.count = 100, .buckets = {{40, 100 - slow}, {60, slow}}});
    gauge.add({.value = is_late ? 4100.0 : 1900.0 + i % 200});
  }
  const std::vector<Watched> watched = {{"web", &tail}, {"db", &gauge}};
  const auto rows = most_changed(watched);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(reason(rows[0].members[0] == 0 ? rows[0] : rows[1], tail, 1, "microseconds/requests"),
            "4.0 % above 2.4ms, before 0.0 %");
  EXPECT_EQ(reason(rows[0].members[0] == 1 ? rows[0] : rows[1], gauge, 1, "bytes/reads"),
            "4.0KiB, before 1.9KiB to 2.1KiB");
}

TEST(PortionTest, CountsGrowthBucketsAndValues) {
  Statistic before{.name = "x", .on = true, .type = "array"};
  before.samples = 1;
  before.values = Array{.bounds = {8, 16}, .counts = {1, 0, 0}};
  Statistic after = before;
  after.samples = 4;
  after.values = Array{.bounds = {8, 16}, .counts = {1, 3, 0}};
  const auto portion = portion_between(before, after);
  ASSERT_TRUE(portion);
  EXPECT_EQ(portion->count, 3);
  ASSERT_EQ(portion->buckets.size(), 1u);
  EXPECT_EQ(portion->buckets[0].index, 14);  // log2 of 11.3 is 3.5
  EXPECT_EQ(portion->buckets[0].count, 3);
  before.values = Value{10};
  after.values = Value{40};
  EXPECT_EQ(portion_between(before, after)->count, 30);
  after.values = Last{.time_us = 5, .x = -7};
  before.values = Last{};
  EXPECT_EQ(portion_between(before, after)->value, -7);
}

TEST(PortionTest, IsUnknownAfterAReset) {
  Statistic before{.name = "x", .on = true, .type = "value"};
  before.data_us = 1;
  Statistic after = before;
  after.data_us = 2;
  EXPECT_FALSE(portion_between(before, after));
}

}  // namespace
}  // namespace tallyfs::view
