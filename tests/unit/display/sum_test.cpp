#include "tools/display/sum.h"

#include <gtest/gtest.h>

namespace tallyfs::view {
namespace {

Statistic named(const std::string& name, Values values) {
  Statistic made{.name = name, .on = true, .samples = 2, .values = std::move(values)};
  return made;
}

std::vector<const Statistic*> all_of(const std::vector<Statistic>& statistics) {
  std::vector<const Statistic*> all;
  for (const Statistic& each : statistics) all.push_back(&each);
  return all;
}

TEST(SumTest, RangesHaveTheExtremesOfBothAndTheAverageOfAll) {
  const Range empty{};
  const Range some{.number = 3, .min = -5, .avg = 1.0, .max = 4, .sum = 3};
  const Range more{.number = 1, .min = -1, .avg = 9.0, .max = 9, .sum = 9};
  const auto both = std::get<Range>(*sum(some, more));
  EXPECT_EQ(both.number, 4u);
  EXPECT_EQ(both.min, -5);
  EXPECT_EQ(both.max, 9);
  EXPECT_EQ(both.avg, 3.0);
  for (const auto& [a, b] : {std::pair{empty, some}, std::pair{some, empty}}) {
    const auto one = std::get<Range>(*sum(a, b));
    EXPECT_EQ(one.min, -5);
    EXPECT_EQ(one.max, 4);
    EXPECT_EQ(one.avg, 1.0);
  }
  EXPECT_FALSE(std::get<Range>(*sum(empty, empty)).min);
}

TEST(SumTest, ArraysNeedTheSameBounds) {
  const Array a{.bounds = {1, 2}, .counts = {1, 2, 3}, .below = 1};
  const Array b{.bounds = {1, 2}, .counts = {10, 20, 30}, .above = 2};
  const auto both = std::get<Array>(*sum(a, b));
  EXPECT_EQ(both.counts, (std::vector<Int128>{11, 22, 33}));
  EXPECT_EQ(both.below, 1u);
  EXPECT_EQ(both.above, 2u);
  EXPECT_FALSE(sum(a, Array{.bounds = {1, 3}, .counts = {1, 2, 3}}));
  EXPECT_FALSE(sum(a, Value{1}));
}

TEST(SumTest, BucketsOfPercentilesAddUpByIndex) {
  Quantiles a{.all = {.number = 2}, .zero = 1};
  a.positive = {.indexes = {-3, 5}, .counts = {1, 2}};
  Quantiles b{.all = {.number = 3}, .zero = 2};
  b.positive = {.indexes = {5, 6}, .counts = {10, 20}};
  const auto both = std::get<Quantiles>(*sum(a, b));
  EXPECT_EQ(both.all.number, 5u);
  EXPECT_EQ(both.zero, 3);
  EXPECT_EQ(both.positive.indexes, (std::vector<std::int32_t>{-3, 5, 6}));
  EXPECT_EQ(both.positive.counts, (std::vector<Int128>{1, 12, 20}));
}

TEST(SumTest, FamiliesAreAddedUpOverTheOtherLabels) {
  const std::vector<Statistic> statistics = {
      named("us{code:200,route:%2Fa}", Value{1}), named("us{code:404,route:%2Fa}", Value{2}),
      named("us{code:200,route:b}", Value{4}), named("us", Value{8}),
      named("us{code:200,route:%2Fa}~t", Value{16})};
  const Sums sums = sums_by("route", all_of(statistics));
  ASSERT_EQ(sums.statistics.size(), 4u);
  EXPECT_EQ(sums.statistics[0].name, "us{route:%2Fa}");
  EXPECT_EQ(std::get<Value>(sums.statistics[0].values).total, 3);
  EXPECT_EQ(sums.statistics[0].samples, 4u);
  EXPECT_EQ(sums.statistics[1].name, "us{route:b}");
  EXPECT_EQ(sums.statistics[2].name, "us");
  EXPECT_EQ(sums.statistics[3].name, "us~t{route:%2Fa}");
  EXPECT_EQ(labels_of(all_of(statistics)), (std::vector<std::string>{"code", "route"}));
}

TEST(SumTest, ASumBeginsWhereTheNewestOfItsPartsDoesOrOfASpanTheOldest) {
  std::vector<Statistic> statistics = {named("us{a:1,b:1}", Value{1}),
                                       named("us{a:1,b:2}", Value{2})};
  statistics[0].data_us = 70;
  statistics[1].data_us = 30;
  EXPECT_EQ(sums_by("a", all_of(statistics)).statistics[0].data_us, 70u);
  EXPECT_EQ(sums_by("a", all_of(statistics), Begin::kOfOldest).statistics[0].data_us, 30u);
}

TEST(SumTest, WhatDoesNotAddUpIsLeftOut) {
  std::vector<Statistic> statistics = {named("us{a:1,b:1}", Value{1}),
                                       named("us{a:1,b:2}", Range{}),
                                       named("us{a:1,b:3}", Value{2}), named("x{a:1}", Last{})};
  statistics[2].units = "bytes";
  const Sums sums = sums_by("a", all_of(statistics));
  ASSERT_EQ(sums.statistics.size(), 1u);
  EXPECT_EQ(std::get<Value>(sums.statistics[0].values).total, 1);
  ASSERT_EQ(sums.left_out.size(), 3u);
  EXPECT_EQ(sums.left_out[1].name, "us{a:1,b:3}");
  EXPECT_EQ(sums.left_out[1].sum, "us{a:1}");
}

TEST(SumTest, EachThatIsLeftOutHasItsReason) {
  const auto reason = [](Statistic first, Statistic second) {
    first.type = first.type.empty() ? "value" : first.type;
    second.type = second.type.empty() ? "value" : second.type;
    const std::vector<Statistic> both = {std::move(first), std::move(second)};
    const Sums sums = sums_by("a", all_of(both));
    return sums.left_out.empty() ? "" : sums.left_out.front().reason;
  };
  const Statistic one = named("us{a:1,b:1}", Value{1});
  Statistic other = named("us{a:1,b:2}", Value{2});
  EXPECT_EQ(reason(one, other), "");
  other.units = "bytes";
  EXPECT_EQ(reason(one, other), "its units are bytes, not none");
  other.type = "range";
  EXPECT_EQ(reason(one, other), "its type is range, not value");
  other = named("us{a:1,b:2}", Value{2});
  other.definition = {{"decimals", "3"}};
  EXPECT_EQ(reason(one, other), "its decimals= is 3, not none");
  other = named("us{a:1,b:2}", Last{});
  other.type = "last";
  EXPECT_EQ(reason(other, one), "type=last does not add up");
  const Array array{.bounds = {1, 2}, .counts = {1, 2, 3}};
  const Array wider{.bounds = {1, 3}, .counts = {1, 2, 3}};
  other = named("us{a:1,b:2}", wider);
  EXPECT_EQ(reason(named("us{a:1,b:1}", array), other), "it has other bounds");
}

TEST(SumTest, ASumHasItsPartsAndTheKeysInWhichTheyAgree) {
  std::vector<Statistic> statistics = {named("p{a:1,b:1}", Value{1}), named("p{a:1,b:2}", Value{2}),
                                       named("p{a:2,b:1}", Value{4})};
  statistics[0].definition = {{"decimals", "0"}, {"of", "us{a:1,b:1}"}, {"help", "one"}};
  statistics[1].definition = {{"decimals", "0"}, {"of", "us{a:1,b:2}"}};
  statistics[2].definition = {{"decimals", "0"}, {"of", "us{a:2,b:1}"}};
  const Sums sums = sums_by("a", all_of(statistics));
  ASSERT_EQ(sums.parts.size(), 2u);
  EXPECT_EQ(sums.parts[0], (std::vector<std::string>{"p{a:1,b:1}", "p{a:1,b:2}"}));
  EXPECT_EQ(sums.parts[1], (std::vector<std::string>{"p{a:2,b:1}"}));
  EXPECT_EQ(sums.statistics[0].key("decimals"), "0");
  EXPECT_EQ(sums.statistics[0].key("of"), "");
  EXPECT_EQ(sums.statistics[0].key("help"), "");
  EXPECT_EQ(sums.statistics[1].key("of"), "us{a:2,b:1}");
}

}  // namespace
}  // namespace tallyfs::view
