#include "exporters/web/past.h"

#include <gtest/gtest.h>

#include "exporters/web/heat_json.h"
#include "exporters/web/line_json.h"
#include "tools/tree/json.h"

namespace tallyfs::web {
namespace {

view::Statistic array_of(std::vector<Int128> counts) {
  view::Statistic made{.name = "us", .on = true, .type = "array", .units = "microseconds/requests"};
  made.definition = {{"scale", "lin"}, {"range_max", "20"}};
  made.values = view::Array{.bounds = {0, 10, 20}, .counts = std::move(counts)};
  return made;
}

view::Change change_of(std::vector<Int128> counts) {
  view::Change made{.micros = 1'000'000, .samples = 1};
  made.counted = array_of(std::move(counts));
  return made;
}

std::string heat_of(const Past& past, HeatOrder order) {
  const auto json = parse_json(heat_json("web", {array_of({0, 9, 9, 9}), past}, order));
  std::string text;
  JsonWriter writer(text);
  for (const char* key : {"counts", "states", "seconds", "seconds_each", "top"}) {
    write_json(writer, *json.value().find(key));
  }
  return text;
}

// Three seconds share a column; the last second of the minute that is not known would, too.
TEST(PastTest, ALongTimeOfWhichNothingIsKnownIsAColumnOfItsOwn) {
  Past past;
  past.add(array_of({}), change_of({0, 1, 0, 0}), {1'000'000});
  past.add_missing({60'000'000, 59});
  for (std::uint64_t second = 61; second <= 65; ++second) {
    past.add(array_of({}), change_of({0, 1, 0, 0}), {second * 1'000'000});
  }
  const HeatColumns shown = columns_of(past, {.seconds = 65, .columns_max = 22});
  EXPECT_EQ(shown.seconds_each, 3u);
  ASSERT_EQ(shown.columns.size(), 4u);
  EXPECT_EQ(shown.columns[1].state, PastColumn::State::kMissing);
  EXPECT_EQ(shown.columns[2].state, PastColumn::State::kCounted);
  EXPECT_EQ(shown.columns[2].samples, 2u);
}

TEST(PastTest, ManyLongTimesOfWhichNothingIsKnownMakeNoMoreColumnsThanAreWanted) {
  Past past;
  for (std::uint64_t end = 12; end <= 120; end += 12) {
    past.add_missing({(end - 1) * 1'000'000, 11});
    past.add(array_of({}), change_of({0, 1, 0, 0}), {end * 1'000'000});
  }
  const HeatColumns shown = columns_of(past, {.seconds = 120, .columns_max = 12});
  EXPECT_LE(shown.columns.size(), 13u);
  std::uint64_t samples = 0;
  for (const PastColumn& each : shown.columns) samples += each.samples;
  EXPECT_EQ(samples, 10u);
}

TEST(PastTest, OfManyDamagedTimesTheFirstAreListedAndTheOthersCounted) {
  PastReading reading{array_of({0, 9, 9, 9}), {}};
  for (std::uint64_t i = 0; i < kFactsMax + 3; ++i) {
    reading.damaged.push_back({.span = {i, i + 1}, .reason = "damaged in the store"});
  }
  const auto json = parse_json(heat_json("web", reading, {}));
  EXPECT_EQ(json.value().find("damaged")->items.size(), kFactsMax);
  EXPECT_EQ(json.value().find("damaged_more")->text, "3");
}

TEST(PastTest, KeepsWhatEachIntervalCounted) {
  Past past;
  past.add(array_of({}), change_of({0, 3, 0, 1}), {1'000'000});
  past.add_quiet({2'000'000});
  past.add(array_of({}), view::Change{}, {3'000'000});
  EXPECT_EQ(heat_of(past, {}), "[[0,3,0,1],[],[]],\"ccu\",[1,1,1],1,4");
}

TEST(PastTest, AGapIsAColumnOfItsSecondsAndColouredByItsAverage) {
  Past past;
  past.add(array_of({}), change_of({0, 100, 0, 1}), {5'000'000, 4});
  past.add_quiet({8'000'000, 3});
  // 25 in each second; the next power of two is 32.
  EXPECT_EQ(heat_of(past, {}), "[[0,100,0,1],[]],\"gc\",[4,3],1,32");
}

TEST(PastTest, AColumnOfWhichAPartIsNotKnownHasTheRest) {
  Past past;
  past.add(array_of({}), change_of({0, 3, 0, 1}), {2'000'000});
  past.add(array_of({}), view::Change{}, {3'000'000});
  past.add(array_of({}), view::Change{}, {4'000'000});
  past.add(array_of({}), view::Change{}, {5'000'000});
  EXPECT_EQ(heat_of(past, {.seconds = 4, .columns_max = 2}), "[[0,3,0,1],[]],\"gu\",[2,2],2,4");
  const PastColumn half = joined(past.columns(), 0, 2);
  EXPECT_EQ(half.samples, 1u);
  EXPECT_EQ(half.length_s(), 1);  // rates are of what is known
}

TEST(PastTest, WhatWasLeftOutInASpanIsKnown) {
  Past past;
  auto change = change_of({0, 3, 0, 1});
  change.counted->hits_out_of_range = 2;
  change.counted->hits_missed = 5;
  past.add(array_of({}), change, {1'000'000});
  past.add(array_of({}), change, {2'000'000});
  const view::Statistic sum = with_column(array_of({}), joined_known(past.columns()));
  EXPECT_EQ(sum.hits_out_of_range, 4u);
  EXPECT_EQ(sum.hits_missed, 10u);
}

TEST(PastTest, OldColumnsGo) {
  Past past;
  for (std::uint64_t i = 1; i <= 5; ++i) past.add_quiet({i * 1'000'000});
  past.keep(2);
  EXPECT_EQ(past.columns().size(), 2u);
  EXPECT_EQ(past.columns().front().interval.end_us, 4'000'000u);
  past.add_quiet({8'000'000, 3});
  past.keep(4);
  EXPECT_EQ(past.seconds(), 4u);
  past.keep(2);
  EXPECT_EQ(past.seconds(), 0u);
}

TEST(PastTest, OtherBinsForgetTheColumns) {
  Past past;
  past.add(array_of({}), change_of({0, 3, 0, 1}), {1'000'000});
  view::Statistic other = array_of({});
  other.definition[0].value = "log2";
  past.add(other, view::Change{}, {2'000'000});
  EXPECT_EQ(past.columns().size(), 1u);
}

TEST(PastTest, ColumnsMergeBySumWhereThereIsNoRoom) {
  Past past;
  for (std::uint64_t i = 2; i <= 7; ++i) {
    past.add(array_of({}), change_of({0, 1, 0, Int128{i}}), {i * 1'000'000});
  }
  EXPECT_EQ(heat_of(past, {.seconds = 6, .columns_max = 3}),
            "[[0,2,0,5],[0,2,0,9],[0,2,0,13]],\"ccc\",[2,2,2],2,16");
}

TEST(PastTest, SecondsOnBothSidesOfAGapDoNotMerge) {
  Past past;
  past.add(array_of({}), change_of({0, 1, 0, 0}), {2'000'000});
  past.add(array_of({}), change_of({0, 1, 0, 0}), {4'900'000, 3});
  past.add(array_of({}), change_of({0, 5, 0, 0}), {6'010'000});
  past.add(array_of({}), view::Change{}, {7'010'000});
  // By whole seconds: 2 and 3, 4 and 5, 6 and 7; none of them is of two pairs.
  EXPECT_EQ(heat_of(past, {.seconds = 20, .columns_max = 10}),
            "[[0,1,0,0],[0,1,0,0],[0,5,0,0]],\"cgg\",[1,3,2],2,8");
}

TEST(PastTest, TheSumOfManyHitsHasEachBinOnce) {
  std::vector<Hit> hits;
  for (std::int32_t i = 0; i < 20'000; ++i) hits.push_back({.index = i % 1000, .count = 1});
  const auto made = summed(std::move(hits));
  ASSERT_EQ(made.size(), 1000u);
  EXPECT_EQ(made.back().index, 999);
  EXPECT_EQ(made.back().count, 20u);
}

TEST(PastTest, BucketsOfPercentilesComeBackInOrder) {
  view::Statistic statistic{.name = "q", .on = true, .type = "quantiles", .units = "x"};
  view::Quantiles values;
  values.zero = 2;
  values.positive = {.indexes = {3, 7}, .counts = {5, 1}};
  values.negative = {.indexes = {1}, .counts = {4}};
  statistic.values = values;
  std::vector<Hit> hits = hits_of(statistic.values);
  std::vector<Hit> more = hits;
  more.push_back({.index = 5, .side = Hit::Side::kPositive, .count = 8});
  hits.insert(hits.end(), more.begin(), more.end());
  const auto made = std::get<view::Quantiles>(with_hits(statistic, hits).values);
  EXPECT_EQ(made.zero, 4);
  EXPECT_EQ(made.positive.indexes, (std::vector<std::int32_t>{3, 5, 7}));
  EXPECT_EQ(made.positive.counts, (std::vector<Int128>{10, 8, 2}));
  EXPECT_EQ(made.negative.counts, (std::vector<Int128>{8}));
}

view::Change change_to(view::Values values, std::uint64_t samples) {
  view::Change made{.micros = 1'000'000, .samples = samples};
  made.counted = view::Statistic{.name = "x", .on = true, .type = "range"};
  made.counted->values = std::move(values);
  return made;
}

TEST(PastTest, ARangeAndAListAddUpOverTheirColumns) {
  view::Statistic range{.name = "x", .on = true, .type = "range"};
  range.values = view::Range{.number = 9, .min = 1, .avg = 2, .max = 9, .sum = 18};
  Past past;
  past.add(range, change_to(view::Range{.number = 2, .sum = 10}, 2), {1'000'000});
  past.add_quiet({2'000'000});
  past.add(range, change_to(view::Range{.number = 1, .sum = -4}, 1), {3'000'000});
  const view::Statistic sum = with_column(range, joined_known(past.columns()));
  const auto& values = std::get<view::Range>(sum.values);
  EXPECT_EQ(sum.samples, 3u);
  EXPECT_EQ(values.number, 3u);
  EXPECT_EQ(values.avg, 2.0);
  EXPECT_FALSE(values.min);  // that of the reset is none of the span's

  view::Statistic list{.name = "x", .on = true, .type = "list"};
  list.values = view::List{};
  Past codes;
  codes.add(list, change_to(view::List{.x = {200, -3}, .totals = {1, 2}}, 3), {1'000'000});
  codes.add(list, change_to(view::List{.x = {200}, .totals = {4}}, 4), {2'000'000});
  const view::Statistic all = with_column(list, joined_known(codes.columns()));
  EXPECT_EQ(std::get<view::List>(all.values).x, (std::vector<std::int64_t>{200, -3}));
  EXPECT_EQ(std::get<view::List>(all.values).totals, (std::vector<Int128>{5, 2}));
}

// A store has them in the order of their X.
TEST(PastTest, OfALongListThoseThatGrewMostAreKeptAndAllAreSummed) {
  view::Statistic list{.name = "x", .on = true, .type = "list"};
  list.values = view::List{};
  view::List grown;
  for (std::int64_t x = 0; x < 100; ++x) {
    grown.x.push_back(x);
    grown.totals.push_back(x + 1);
  }
  Past past;
  past.add(list, change_to(grown, 5050), {1'000'000});
  const PastColumn& column = past.columns().front();
  ASSERT_EQ(column.hits.size(), 32u);
  EXPECT_EQ(column.hits.front().index, 68);
  EXPECT_EQ(column.hits.back().index, 99);
  EXPECT_EQ(column.sum, 5050);
  const auto json = parse_json(line_json("web", {list, past}, {}));
  const Json& series = *json.value().find("series");
  EXPECT_EQ(series.find("value")->items.back().text, "5050.000");
}

// Of a logarithmic axis an error in a day is as far from none as from a hundred.
TEST(PastTest, ALineHasSmallRatesAndTicksBelowThem) {
  view::Statistic errors{.name = "n", .on = true, .type = "value"};
  errors.values = view::Value{};
  Past past;
  past.add(errors, change_to(view::Value{1}, 1), {1'000'000'000'000, 86'400});
  past.add(errors, change_to(view::Value{0}, 0), {1'086'400'000'000, 86'400});
  past.add(errors, change_to(view::Value{3}, 3), {31'086'400'000'000, 30'000'000});
  const auto json = parse_json(line_json("web", {errors, past}, {.seconds = 31'000'000}));
  const Json& series = *json.value().find("series");
  std::vector<std::string> texts;
  for (const Json& each : series.find("value")->items) texts.push_back(each.text);
  EXPECT_EQ(texts, (std::vector<std::string>{"1.157e-05", "0.000", "1.000e-07"}));
  EXPECT_EQ(series.find("log_ticks")->items.front().find("value")->text, "1.000e-07");
}

TEST(PastTest, WhatIsNotThereOfASpanIsMissing) {
  Past past;
  for (std::uint64_t i = 5; i <= 9; ++i) {
    past.add(array_of({}), change_of({0, 1, 0, 0}), {i * 1'000'000});
  }
  const Past within = past.within(2'000'000, 7'000'000);
  ASSERT_EQ(within.columns().size(), 4u);
  EXPECT_EQ(within.columns().front().state, PastColumn::State::kMissing);
  EXPECT_EQ(within.columns().front().interval.seconds, 2u);
  EXPECT_EQ(joined_known(within.columns()).samples, 3u);
  // Columns end where the span does.
  EXPECT_EQ(past.within(8'000'000, 20'000'000).columns().back().interval.seconds, 11u);
  EXPECT_FALSE(joined_known(past.within(100'000'000, 101'000'000).columns()).is_known());
}

}  // namespace
}  // namespace tallyfs::web
