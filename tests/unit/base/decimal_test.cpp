#include "core/base/decimal.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "core/base/unit_factor.h"

namespace tallyfs {
namespace {

using Int64Limits = std::numeric_limits<std::int64_t>;

std::string fixed_of(std::string_view text, unsigned decimals) {
  const auto fixed = parse_fixed(text, decimals);
  if (!fixed) return "too large";
  return std::to_string(fixed->value) + (fixed->is_rounded ? " rounded" : "");
}

std::string text_of_fixed(Int128 value, unsigned decimals) {
  std::string text;
  append_fixed(text, value, decimals);
  return text;
}

TEST(DecimalTest, KnowsDecimals) {
  for (const char* text : {"0.25", "-0.25", ".5", "5.", "-.5", "00.0"}) {
    EXPECT_TRUE(is_decimal(text)) << text;
  }
  for (const char* text :
       {"", ".", "-", "-.", "1", "1.2.3", "1e5", "0x1.8", "+1.5", "1,5", "nan"}) {
    EXPECT_FALSE(is_decimal(text)) << text;
  }
}

TEST(DecimalTest, IsExactAndRoundsHalvesToEven) {
  EXPECT_EQ(fixed_of("0.25", 6), "250000");
  EXPECT_EQ(fixed_of("-0.25", 2), "-25");
  EXPECT_EQ(fixed_of("3", 3), "3000");
  EXPECT_EQ(fixed_of(".5", 1), "5");
  EXPECT_EQ(fixed_of("5.", 1), "50");
  EXPECT_EQ(fixed_of("0.1000", 1), "1");
  EXPECT_EQ(fixed_of("0.25", 1), "2 rounded");
  EXPECT_EQ(fixed_of("0.35", 1), "4 rounded");
  EXPECT_EQ(fixed_of("-0.25", 1), "-2 rounded");
  EXPECT_EQ(fixed_of("0.2500001", 1), "3 rounded");
  EXPECT_EQ(fixed_of("0.24999999999999999999999999", 1), "2 rounded");
  EXPECT_EQ(fixed_of("0.5", 0), "0 rounded");
  EXPECT_EQ(fixed_of("1.5", 0), "2 rounded");
  EXPECT_EQ(fixed_of("0.0000000001", 9), "0 rounded");
}

TEST(DecimalTest, GoesToTheEndsOf64Bits) {
  EXPECT_EQ(fixed_of("9223372036854775.807", 3), "9223372036854775807");
  EXPECT_EQ(fixed_of("-9223372036854775.808", 3), "-9223372036854775808");
  EXPECT_EQ(fixed_of("9223372036854775.808", 3), "too large");
  EXPECT_EQ(fixed_of("9223372036854775.8075", 3), "too large");
  EXPECT_EQ(fixed_of("9223372036854775807", 1), "too large");
  EXPECT_EQ(fixed_of(std::string(1000, '9') + ".5", 0), "too large");
  EXPECT_EQ(to_fixed(9'223'372'036, 9), 9'223'372'036'000'000'000);
  EXPECT_EQ(to_fixed(9'223'372'037, 9), std::nullopt);
}

TEST(DecimalTest, PrintsExactlyThePlaces) {
  EXPECT_EQ(text_of_fixed(250, 3), "0.250");
  EXPECT_EQ(text_of_fixed(-5, 2), "-0.05");
  EXPECT_EQ(text_of_fixed(0, 9), "0.000000000");
  EXPECT_EQ(text_of_fixed(1234, 0), "1234");
  EXPECT_EQ(text_of_fixed(Int64Limits::min(), 9), "-9223372036.854775808");
  EXPECT_EQ(text_of_fixed(static_cast<Int128>(~UInt128{0} >> 1), 6),
            "170141183460469231731687303715884.105727");
  for (const std::int64_t value :
       {Int64Limits::min(), Int64Limits::max(), std::int64_t{0}, std::int64_t{-7},
        std::int64_t{99'999}, std::int64_t{1'000'000'000}}) {
    for (unsigned decimals = 0; decimals <= kDecimalsMax; ++decimals) {
      const std::string text = text_of_fixed(value, decimals);
      EXPECT_EQ(fixed_length(value, decimals), text.size()) << text;
      EXPECT_EQ(fixed_of(text, decimals), std::to_string(value)) << text;
    }
  }
}

TEST(DecimalTest, AFactorWithDecimalsHasANumberOfItsOwn) {
  const UnitFactor seconds = unit_of_x("seconds/requests").factor;
  const UnitFactor micros = unit_of_x("microseconds/requests").factor;
  EXPECT_EQ(with_decimals(seconds, 6), micros);
  EXPECT_EQ(number_of(with_decimals(seconds, 6)), number_of(micros));
  const UnitFactor days = with_decimals(unit_of_x("days/x").factor, 9);
  EXPECT_EQ(days.numerator, 27u);
  EXPECT_EQ(days.denominator, 312'500u);
  EXPECT_LT(number_of(days), kUnitFactors);
  EXPECT_NE(number_of(days), number_of(with_decimals(unit_of_x("days/x").factor, 8)));
}

TEST(DecimalTest, SamplesOfOneScaleAddUp) {
  EXPECT_TRUE(have_one_scale({"seconds/n", 6}, {"microseconds/requests"}));
  EXPECT_TRUE(have_one_scale({"seconds/n", 6}, {"seconds/requests", 6}));
  EXPECT_FALSE(have_one_scale({"seconds/n", 6}, {"seconds/n", 3}));
  EXPECT_FALSE(have_one_scale({"seconds/n", 3}, {"thousandths/n"})) << "parts of a pure number";
  EXPECT_TRUE(have_one_scale({"", 3}, {"thousandths/n"}));
  EXPECT_FALSE(have_one_scale({"", 3}, {"milliseconds/n"})) << "of minutes, perhaps";
  EXPECT_TRUE(have_one_scale({"", 2}, {"euros/sales", 2}));
  EXPECT_FALSE(have_one_scale({"dollars/sales", 2}, {"euros/sales", 2}));
}

}  // namespace
}  // namespace tallyfs
