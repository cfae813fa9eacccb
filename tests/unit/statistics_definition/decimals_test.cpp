// decimals= in lines of definitions.
#include <gtest/gtest.h>

#include "core/statistics/definition/change.h"

namespace tallyfs::statistics {
namespace {

constexpr const char* kOpenRange = "range_min=-9223372036854775808 range_max=9223372036854775807";

Definition made_of(std::string_view text) {
  return apply(parse_new_statistic(text).value(), Definition{}).value();
}

std::string line_of(const Definition& definition) {
  std::string text;
  append_definition(text, definition);
  return text;
}

// What the line makes of the definition, or why it does not.
std::string outcome(std::string_view line, const Definition& before) {
  const auto change = parse_change(line);
  if (!change) return std::to_string(change.error().token_at) + ": " + change.error().reason;
  const auto applied = apply(change.value(), before);
  if (applied) return line_of(applied.value());
  return std::to_string(applied.error().token_at) + ": " + applied.error().reason;
}

TEST(DecimalsTest, AStatisticWithoutThemTakesNotAByteMore) {
  EXPECT_EQ(sizeof(Definition), 2 * sizeof(std::int64_t) + sizeof(Settings) + sizeof(std::string));
  Definition definition{.decimals = 7};
  each_type([&]<typename S>() {
    definition.settings = S{};
    EXPECT_EQ(definition.decimals, 7) << S::kType;
  });
}

TEST(DecimalsTest, StandBeforeTheUnitsAndOnlyWhereTheyAreNotZero) {
  EXPECT_EQ(line_of(made_of("type=range decimals=3 units=s/n")),
            std::string("type=range ") + kOpenRange + " decimals=3 units=s/n");
  EXPECT_EQ(line_of(made_of("type=range decimals=0")),
            std::string("type=range ") + kOpenRange + " units=");
}

TEST(DecimalsTest, RangeAndBaseIntervalAreDecimalsToo) {
  const Definition array = made_of(
      "type=array scale=lin range_min=-0.5 range_max=2.5 base_interval=0.25 decimals=2 units=s/n");
  EXPECT_EQ(array.range_min, -50);
  EXPECT_EQ(array.range_max, 250);
  EXPECT_EQ(std::get<ArraySettings>(array.settings).base_interval, 25u);
  const std::string line = line_of(array);
  EXPECT_EQ(line,
            "type=array range_min=-0.50 range_max=2.50 base_interval=0.25 scale=lin decimals=2 "
            "units=s/n");
  EXPECT_EQ(made_of(line), array);
  EXPECT_EQ(outcome("range_max=3", array),
            "type=array range_min=-0.50 range_max=3.00 base_interval=0.25 scale=lin decimals=2 "
            "units=s/n");
}

TEST(DecimalsTest, AnOpenRangeStaysOpen) {
  const Definition open = made_of("type=range decimals=9");
  EXPECT_TRUE(open.has_full_range());
  EXPECT_EQ(made_of(line_of(open)), open);
  EXPECT_EQ(made_of("type=range decimals=9 range_min=0").range_min, 0);
}

TEST(DecimalsTest, WhatDoesNotFitIsRefusedWithItsPlace) {
  const Definition whole = made_of("type=range");
  const Definition two = made_of("type=range decimals=2");
  EXPECT_EQ(outcome("name=s range_max=2.5", whole),
            "7: range_max must be a whole number: decimals= is not set");
  EXPECT_EQ(outcome("name=s range_max=2.505", two), "7: range_max has more places than decimals=2");
  EXPECT_EQ(outcome("name=s range_max=2.0000000000", two),
            "7: range_max must be a signed 64-bit number, or as 2.5 with decimals=");
  EXPECT_EQ(outcome("name=s range_max=2,5", two),
            "7: range_max must be a signed 64-bit number, or as 2.5 with decimals=");
  EXPECT_EQ(outcome("name=s range_max=100000000000000000", two),
            "7: range_max is too large with decimals=2");
  EXPECT_EQ(outcome("name=s decimals=10", whole),
            "7: decimals must be a number from 0 to 9: how many decimal places X has");
  EXPECT_EQ(outcome("name=s decimals=", whole),
            "7: decimals must be a number from 0 to 9: how many decimal places X has");
  EXPECT_EQ(outcome("name=s type=array scale=lin range_min=0 range_max=9 base_interval=-0.5", two),
            "52: base_interval must be a 64-bit number, 1 or more");
}

TEST(DecimalsTest, AChangeKeepsTheValuesOfTheRange) {
  const Definition two = made_of("type=range decimals=2 range_min=-1 range_max=2.5");
  EXPECT_EQ(outcome("decimals=3", two),
            "type=range range_min=-1.000 range_max=2.500 decimals=3 units=");
  EXPECT_EQ(outcome("decimals=1", two),
            "type=range range_min=-1.0 range_max=2.5 decimals=1 units=");
  EXPECT_EQ(outcome("decimals=0", two),
            "0: range_max must be said anew: as it is, it does not go with decimals=0");
  EXPECT_EQ(outcome("decimals=0 range_max=2", two), "type=range range_min=-1 range_max=2 units=");
  EXPECT_EQ(outcome("on=1", two), line_of(two));
}

TEST(DecimalsTest, AChangeDiscardsData) {
  Definition before = made_of("type=value mode=increments");
  Definition other = before;
  other.decimals = 1;
  EXPECT_TRUE(discards_data(before, other));
  EXPECT_TRUE(discards_data(other, before));
}

TEST(DecimalsTest, TheFactorToTheBaseUnitIsThatOfBoth) {
  const Definition seconds = made_of("type=range decimals=6 units=seconds/requests");
  EXPECT_EQ(factor_of_x(seconds), unit_of_x("microseconds/requests").factor);
}

TEST(DecimalsTest, RulesMayHaveARangeForStatisticsWithDecimals) {
  EXPECT_TRUE(check_alone(parse_change("name=s range_max=2.5").value()));
  EXPECT_FALSE(check_alone(parse_change("name=s range_max=2.5 decimals=0").value()));
}

}  // namespace
}  // namespace tallyfs::statistics
