#include "tools/display/type_lines.h"

#include <gtest/gtest.h>

namespace tallyfs::view {
namespace {

Statistic counter() {
  Statistic made{.name = "us", .on = true, .type = "value", .units = "microseconds/requests"};
  made.definition = {{"on", "1"},
                     {"type", "value"},
                     {"range_min", "-9223372036854775808"},
                     {"range_max", "9223372036854775807"},
                     {"mode", "increments"}};
  made.values = Value{};
  return made;
}

Statistic of_range(std::int64_t min, std::int64_t max) {
  Statistic made = counter();
  made.type = "range";
  made.definition.pop_back();
  made.values = Range{.number = 2, .min = min, .avg = 1.5, .max = max};
  return made;
}

TEST(TypeLinesTest, NamesAllThatATypeNeeds) {
  const Statistic from = counter();
  EXPECT_EQ(line_as(from, "value"), definition_line(from));
  EXPECT_EQ(line_as(from, "range"), "name=us on=1 type=range");
  EXPECT_EQ(line_as(from, "last"), "name=us on=1 type=last");
  EXPECT_EQ(line_as(from, "list"), "name=us on=1 type=list entries_max=100");
  EXPECT_EQ(line_as(from, "raw"), "name=us on=1 type=raw entries_max=100");
  EXPECT_EQ(line_as(from, "quantiles"),
            "name=us on=1 type=quantiles precision=5 quantiles=50,90,99,99.9");
  EXPECT_EQ(line_as(from, "history"),
            "name=us on=1 type=history entries_max=300 mode=increments period=1000000");
  EXPECT_EQ(line_as(of_range(1, 2), "value"), "name=us on=1 type=value mode=increments");
}

TEST(TypeLinesTest, OpenEndsAreLeftOut) {
  Statistic of = counter();
  EXPECT_EQ(definition_line(of), "name=us on=1 type=value mode=increments");
  of.definition[2].value = "-9223372036854775.808";
  of.definition[3].value = "5.000";
  EXPECT_EQ(definition_line(of), "name=us on=1 type=value range_max=5.000 mode=increments");
  EXPECT_FALSE(is_open_end("range_max", "-9223372036854775808"));
  EXPECT_FALSE(is_open_end("base_interval", "9223372036854775807"));
}

TEST(TypeLinesTest, AnArrayReachesBeyondWhatWasSeen) {
  // Nothing was seen: a minute of microseconds.
  EXPECT_EQ(line_as(counter(), "array"),
            "name=us on=1 type=array base_interval=1 scale=log2 range_min=0 range_max=67108864");
  EXPECT_EQ(line_as(of_range(3, 900), "array"),
            "name=us on=1 type=array base_interval=1 scale=log2 range_min=0 range_max=4096");
  // Below zero an octave would be wider than all of it.
  EXPECT_EQ(line_as(of_range(-30, 10), "array"),
            "name=us on=1 type=array base_interval=2 scale=lin range_min=-64 range_max=64");
}

TEST(TypeLinesTest, TheRangeStaysUnlessItIsTheScaleOfAnArray) {
  Statistic slow = of_range(1001, 9000);
  slow.definition[2].value = "1001";
  EXPECT_EQ(line_as(slow, "quantiles"),
            "name=us on=1 type=quantiles precision=5 quantiles=50,90,99,99.9 range_min=1001");
  Statistic array = counter();
  array.type = "array";
  array.definition[2].value = "0";
  array.definition[3].value = "4096";
  array.values = Array{.bounds = {0, 4096}, .counts = {0, 0, 0}};
  EXPECT_EQ(line_as(array, "range"),
            "name=us on=1 type=range range_min=-9223372036854775808"
            " range_max=9223372036854775807");
}

TEST(TypeLinesTest, NumbersOfXAreDecimalsWhereTheStatisticHasThem) {
  Statistic from = of_range(3, 900);
  from.units = "seconds/requests";
  from.definition.push_back({"decimals", "3"});
  EXPECT_EQ(line_as(from, "array"),
            "name=us on=1 type=array base_interval=0.001 scale=log2 range_min=0 range_max=4.096");
  from.values = Range{.number = 2, .min = -30, .avg = 1.5, .max = 10};
  EXPECT_EQ(line_as(from, "array"),
            "name=us on=1 type=array base_interval=0.002 scale=lin range_min=-0.064"
            " range_max=0.064");
  EXPECT_EQ(completed_line("type=list decimals=3", &from), "type=list decimals=3 entries_max=100");
}

TEST(TypeLinesTest, CompletesALineWithWhatItsTypeLacks) {
  const Statistic from = counter();
  EXPECT_EQ(completed_line("name=us type=value", nullptr), "name=us type=value mode=increments");
  EXPECT_EQ(completed_line("type=array scale=log2 range_min=0 range_max=4000", &from),
            "type=array scale=log2 range_min=0 range_max=4000 base_interval=1");
  EXPECT_EQ(completed_line("type=history mode=quantiles period=5 entries_max=9", &from),
            "type=history mode=quantiles period=5 entries_max=9 precision=5"
            " quantiles=50,90,99,99.9");
  EXPECT_EQ(completed_line("type=range", &from), std::nullopt);
  EXPECT_EQ(completed_line("type=rainge", &from), std::nullopt);
  EXPECT_EQ(completed_line("on=0", &from), std::nullopt);
}

TEST(TypeLinesTest, SaysWhatWouldBeDiscarded) {
  Statistic from = counter();
  EXPECT_EQ(held_text(from), "");
  from.values = Value{.total = 1234};
  EXPECT_EQ(held_text(from), "a total of 1,234");
  EXPECT_EQ(held_text(of_range(1, 2)), "2 requests");
}

}  // namespace
}  // namespace tallyfs::view
