// Points of each type from snapshots, and back into data.json.
#include "tools/past/point.h"

#include <gtest/gtest.h>

#include "tools/tree/statistics_json.h"

namespace tallyfs::past {
namespace {

constexpr const char* kArray =
    R"("type":"array","scale":"linear","samples":9,"data_us":5,"hits_missed":0,)"
    R"("values":{"bounds":[0,1,2,4],"counts":[)";

Json json_of(const std::string& members) {
  auto json = parse_json(R"({"name":"x","on":1,)" + members + "}");
  EXPECT_TRUE(json);
  return json ? json.value() : Json();
}

view::Statistic statistic_from(const Json& json) {
  Json statistics{.kind = Json::Kind::kArray, .items = {json}};
  Json interface = parse_json(R"({"format":1,"interface":"web"})").value();
  interface.keys.emplace_back("statistics");
  interface.items.push_back(statistics);
  auto made = to_interface(interface);
  EXPECT_TRUE(made) << (made ? "" : made.error().reason);
  return made ? made.value().statistics.at(0) : view::Statistic();
}

// What was counted between the two, as data.json has it.
view::Statistic counted(const std::string& before, const std::string& now) {
  const Json json = json_of(now);
  const view::Statistic was = statistic_from(json_of(before));
  const auto point = point_between(&was, statistic_from(json));
  EXPECT_TRUE(point);
  return statistic_from(statistic_of(shape_of(json), point.value_or(Point()), 7, 8));
}

TEST(PointTest, AnArrayHasTheCountsOfTheInterval) {
  const auto made = counted(std::string(kArray) + "1,0,0,5,0]}",
                            std::string(kArray) + R"(1,2,0,8,1],"below":3,"above":4})");
  const auto& array = std::get<view::Array>(made.values);
  EXPECT_EQ(array.counts, (std::vector<Int128>{0, 2, 0, 3, 1}));
  EXPECT_EQ(array.below, 3u);
  EXPECT_EQ(array.above, 4u);
  EXPECT_EQ(made.data_us, 7u);
}

TEST(PointTest, QuantilesHaveTheBucketsOfTheIntervalAndBrokenRecords) {
  const auto made = counted(
      R"("type":"quantiles","samples":3,"values":{"count":3,"min":2,"avg":3,"max":4,"sum":9,)"
      R"("quantiles":[{"q":99,"value":4}],"buckets":{"zero":1,"positive":{"indexes":[4],)"
      R"("counts":[2]},"negative":{"indexes":[],"counts":[]}}})",
      R"("type":"quantiles","samples":7,"values":{"count":7,"min":2,"avg":3,"max":90,"sum":5,)"
      R"("quantiles":[{"q":99,"value":90}],"buckets":{"zero":2,"positive":{"indexes":[4,9],)"
      R"("counts":[2,2]},"negative":{"indexes":[-3],"counts":[1]}}})");
  const auto& quantiles = std::get<view::Quantiles>(made.values);
  EXPECT_EQ(quantiles.all.number, 4u);
  EXPECT_EQ(quantiles.all.sum, -4);
  EXPECT_EQ(quantiles.all.max, 90);
  EXPECT_FALSE(quantiles.all.min);  // unknown: the record was not broken
  EXPECT_EQ(quantiles.zero, 1);
  EXPECT_EQ(quantiles.positive.indexes, (std::vector<std::int32_t>{9}));
  EXPECT_EQ(quantiles.negative.indexes, (std::vector<std::int32_t>{-3}));
  ASSERT_EQ(quantiles.shown.size(), 1u);
  EXPECT_EQ(quantiles.shown[0].q, "99");
}

TEST(PointTest, ValueRangeListAndLastAreOfTheInterval) {
  const auto value = counted(R"("type":"value","samples":3,"values":{"total":10})",
                             R"("type":"value","samples":5,"values":{"total":25})");
  EXPECT_EQ(std::get<view::Value>(value.values).total, 15);
  EXPECT_EQ(value.samples, 2u);
  const auto range = counted(
      R"("type":"range","samples":2,"values":{"number":2,"min":1,"avg":2,"max":3,"sum":4})",
      R"("type":"range","samples":4,"values":{"number":4,"min":-8,"avg":2,"max":3,"sum":-2})");
  EXPECT_EQ(std::get<view::Range>(range.values).min, -8);
  EXPECT_EQ(std::get<view::Range>(range.values).avg, -3);
  const auto list = counted(R"("type":"list","samples":1,"values":{"x":[7],"totals":[1]})",
                            R"("type":"list","samples":9,"values":{"x":[-2,7],"totals":[5,4]})");
  EXPECT_EQ(std::get<view::List>(list.values).x, (std::vector<std::int64_t>{-2, 7}));
  EXPECT_EQ(std::get<view::List>(list.values).totals, (std::vector<Int128>{5, 3}));
  const auto last = counted(R"("type":"last","samples":1,"values":{"time_us":4,"x":40})",
                            R"("type":"last","samples":2,"values":{"time_us":9,"x":41})");
  EXPECT_EQ(std::get<view::Last>(last.values).x, 41);
  const std::string quiet = R"("type":"last","samples":1,"values":{"time_us":4,"x":40})";
  EXPECT_EQ(std::get<view::Last>(counted(quiet, quiet).values).x, 40);
  EXPECT_EQ(quiet_point(statistic_from(json_of(quiet))).last, 40);
}

TEST(PointTest, XWithDecimalsGoesThroughTheStoreExactly) {
  const std::string begin = R"("type":"range","decimals":3,"samples":)";
  const auto range = counted(
      begin + R"(1,"values":{"number":1,"min":0.250,"avg":0.250000,"max":0.250,"sum":0.250})",
      begin + R"(3,"values":{"number":3,"min":-1.500,"avg":0.250000,"max":2.000,"sum":0.750})");
  const auto& values = std::get<view::Range>(range.values);
  EXPECT_EQ(range.decimals(), 3u);
  EXPECT_EQ(values.number, 2u);
  EXPECT_EQ(values.min, -1500);
  EXPECT_EQ(values.max, 2000);
  EXPECT_EQ(values.sum, Int128{500});
  EXPECT_EQ(values.avg, 250.0);
  const std::string other = R"("type":"range","decimals":1,"samples":)";
  const view::Statistic was =
      statistic_from(json_of(other + R"(1,"values":{"number":1,"sum":0.2})"));
  EXPECT_FALSE(point_between(
      &was, statistic_from(json_of(begin + R"(3,"values":{"number":3,"sum":0.750})"))));
}

TEST(PointTest, ATotalThatFellIsNotKnown) {
  const auto was = statistic_from(json_of(R"("type":"value","samples":3,"values":{"total":10})"));
  const auto now = statistic_from(json_of(R"("type":"value","samples":4,"values":{"total":9})"));
  EXPECT_FALSE(point_between(&was, now));
}

TEST(PointTest, TheShapeStaysWhileItCountsAndMovesWithTheDefinition) {
  const Json was = shape_of(json_of(std::string(kArray) + "1,0,0,5,0]}"));
  const Json now = shape_of(json_of(std::string(kArray) + "1,2,0,8,1]}"));
  const auto text = [](const Json& json) {
    std::string made;
    JsonWriter writer(made);
    write_json(writer, json);
    return made;
  };
  EXPECT_EQ(text(was), text(now));
  EXPECT_NE(text(was), text(shape_of(json_of(R"("type":"value","values":{"total":1})"))));
}

TEST(PointTest, OfAListTheLargestEntriesAreKept) {
  Point point;
  for (std::int64_t x = 0; x < 250; ++x) {
    point.cells.push_back({x, static_cast<std::uint64_t>(x + 1)});
  }
  keep_largest(point);
  EXPECT_EQ(point.cells.size(), kListEntries);
  EXPECT_EQ(point.cells.front().key, 150);
  EXPECT_EQ(point.missed, 150u * 151 / 2);
}

// Bucket i of precision p has base^(i-1) < X <= base^i, base = 2^(2^-p).
TEST(PointTest, BucketsOfLowerPrecisionHoldTheSameSamples) {
  Point point{.known = 1};
  point.cells = {{4 * -5 + 1, 1}, {4 * -4 + 1, 2}, {4 * -4 + 2, 7}, {3, 9},
                 {4 * 1 + 1, 3},  {4 * 4 + 1, 4},  {4 * 5 + 1, 5}};
  lower_precision(point, 5, 3);
  const std::vector<Cell> wanted = {
      {4 * -1 + 1, 3}, {4 * -1 + 2, 7}, {3, 9}, {4 * 1 + 1, 7}, {4 * 2 + 1, 5}};
  EXPECT_EQ(point.cells, wanted);
  lower_precision(point, 3, 8);
  EXPECT_EQ(point.cells, wanted);
}

TEST(PointTest, SumsHaveTheLastValueAndTheWidestRecords) {
  Point sum{.known = 1, .min = 3, .max = 3, .last = 1};
  add(sum, {.known = 1, .max = 9, .last = 2});
  add(sum, {.known = 1, .min = -1});
  EXPECT_EQ(sum, (Point{.known = 3, .min = -1, .max = 9, .last = 2}));
}

}  // namespace
}  // namespace tallyfs::past
