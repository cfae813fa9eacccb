// Conditions of `tallyctl check`: how they are read, and what they say of a statistic.
#include "tools/ctl/condition.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

Condition condition(const std::string& text) {
  const auto parsed = parse_condition(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? parsed.value() : Condition{};
}

view::Statistic statistic(const std::string& type, const std::string& units, view::Values values) {
  view::Statistic made{.name = "s", .on = true, .type = type, .units = units};
  made.samples = 1;
  made.values = std::move(values);
  return made;
}

view::Statistic range_of(std::int64_t min, double avg, std::int64_t max) {
  return statistic("range", "microseconds/requests",
                   view::Range{.number = 2, .min = min, .avg = avg, .max = max, .sum = 0});
}

bool holds(const std::string& text, const view::Statistic& of) {
  const auto measured = measure(condition("web/us " + text), of, nullptr, view::Charset::kAscii);
  EXPECT_TRUE(measured) << text << ": " << (measured ? "" : measured.error().reason);
  return measured && measured.value().holds;
}

std::string unknown(const std::string& text, const view::Statistic& of,
                    const view::Change* change = nullptr) {
  const auto measured = measure(condition("web/us " + text), of, change, view::Charset::kAscii);
  return measured ? "it is known" : measured.error().reason;
}

TEST(ConditionTest, BlanksAroundTheOperatorDoNotMatter) {
  for (const char* text :
       {"web/us p99.9 <= 20ms", "  web/us   p99.9<=20ms ", "web/us p99.9 <=20ms"}) {
    const Condition parsed = condition(text);
    EXPECT_EQ(parsed.what, "web/us");
    EXPECT_EQ(parsed.metric_text, "p99.9");
    EXPECT_EQ(parsed.wanted_text(), "<= 20ms");
    EXPECT_EQ(parsed.millionths, 999'000u);
  }
}

TEST(ConditionTest, WhatIsNoConditionIsRefusedWithOneThatIs) {
  for (const char* text :
       {"", "web/us", "web/us p99", "web/us p99 = 3", "web/us < 3", "web/us p0 < 3",
        "web/us p100 < 3", "web/us p99x < 3", "web/us median < 3", "web/us max < ",
        "web/us max < 3 ms", "web/us max < 3parsecs", "web/us max < nan", "web/us max < inf",
        "p99 < 20ms"}) {
    const auto parsed = parse_condition(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().reason.find("as 'web/latency_us p99 < 20ms'"), std::string::npos);
  }
}

TEST(ConditionTest, ALimitWithAUnitIsConverted) {
  const view::Statistic range = range_of(10, 2000.5, 20'000);
  EXPECT_TRUE(holds("max <= 20ms", range));
  EXPECT_FALSE(holds("max < 20ms", range));
  EXPECT_TRUE(holds("max < 0.021s", range));
  EXPECT_TRUE(holds("avg > 2ms", range));
  EXPECT_FALSE(holds("min > 10us", range));
  EXPECT_TRUE(holds("min >= 10us", range));
  EXPECT_TRUE(holds("count >= 2", range));
}

TEST(ConditionTest, ALimitWithoutAUnitIsInThatOfTheStatistic) {
  EXPECT_TRUE(holds("max < 20001", range_of(1, 1, 20'000)));
  EXPECT_FALSE(holds("max < 20k", range_of(1, 1, 20'000)));
  EXPECT_TRUE(holds("value > 1M", statistic("value", "requests", view::Value{1'000'001})));
  EXPECT_TRUE(
      holds("max < 2KiB",
            statistic("range", "bytes/requests",
                      view::Range{.number = 1, .min = 1, .avg = 1, .max = 2047, .sum = 1})));
}

TEST(ConditionTest, APercentileIsThatOfShow) {
  view::Array array{.bounds = {10, 20, 40}, .counts = {0, 99, 1, 0}};
  const view::Statistic of = statistic("array", "microseconds/requests", array);
  EXPECT_TRUE(holds("p50 <= 20us", of));
  EXPECT_TRUE(holds("p99.9 > 20us", of));
}

TEST(ConditionTest, WhatIsNotKnownIsSaid) {
  view::Statistic off = range_of(1, 1, 1);
  off.on = false;
  EXPECT_EQ(unknown("max < 1", off), "it is off");
  EXPECT_EQ(unknown("max < 1", statistic("range", "", view::Range{})), "no sample");
  EXPECT_EQ(unknown("p99 < 1", range_of(1, 1, 1)),
            "type=range has no p99; type=quantiles has, also as a view beside it");
  EXPECT_EQ(unknown("max < 1", statistic("value", "", view::Value{.total = 1})),
            "type=value has no max; it has value and rate");
  EXPECT_EQ(unknown("rate > 1", range_of(1, 1, 1)), "a rate needs --over TIME");
  EXPECT_EQ(unknown("max < 1KiB", range_of(1, 1, 1)),
            "1KiB is in another unit than the statistic, which is in microseconds/requests");
  EXPECT_EQ(unknown("count < 1ms", range_of(1, 1, 1)),
            "1ms is in another unit than the statistic, which is in microseconds/requests");
  const view::Change reset{.micros = 1'000'000, .samples = std::nullopt, .counted = std::nullopt};
  EXPECT_EQ(unknown("rate > 1", range_of(1, 1, 1), &reset), "it was reset or redefined meanwhile");
  EXPECT_EQ(unknown("max > 1", range_of(1, 1, 1), &reset), "it was reset or redefined meanwhile");
}

TEST(ConditionTest, WithoutASampleNothingIsBelowALimit) {
  for (const view::Statistic& each : {statistic("range", "", view::Range{}),
                                      statistic("quantiles", "", view::Quantiles{})}) {
    view::Statistic of = each;
    of.samples = 0;
    for (const char* const text : {"count < 5", "max < 5"}) {
      EXPECT_EQ(unknown(text, of), "no sample") << of.type << text;
    }
  }
  view::Statistic counter = statistic("value", "", view::Value{});
  EXPECT_TRUE(holds("value < 5", counter));
  counter.samples = 0;
  EXPECT_EQ(unknown("value < 5", counter), "no sample");
}

// Of the samples before the reset `samples` still says how many there were.
TEST(ConditionTest, AfterAResetTheCountIs0AndXIsNotKnown) {
  for (const view::Statistic& each : {statistic("range", "", view::Range{}),
                                      statistic("quantiles", "", view::Quantiles{})}) {
    EXPECT_TRUE(holds("count < 5", each)) << each.type;
    EXPECT_FALSE(holds("count > 0", each)) << each.type;
    EXPECT_EQ(unknown("max < 5", each), "no sample") << each.type;
  }
}

TEST(ConditionTest, ARateIsOfTheInterval) {
  const view::Change change{.micros = 2'000'000, .samples = 10, .counted = std::nullopt};
  const auto measured =
      measure(condition("web/us rate >= 5/s"), range_of(1, 1, 1), &change, view::Charset::kAscii);
  ASSERT_TRUE(measured);
  EXPECT_TRUE(measured.value().holds);
  EXPECT_EQ(measured.value().value, 5.0);
}

}  // namespace
}  // namespace tallyfs
