#include "feeders/text/number.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace tallyfs {
namespace {

// X of the text at a scale, with a `~` behind it if it was rounded; "range", "value".
std::string x_of(const std::string& text, unsigned scale = 0) {
  const auto number = parse_number(text);
  if (!number) return "value";
  const auto integer = to_integer(*number, scale);
  if (!integer) return "range";
  return std::to_string(integer->value) + (integer->is_rounded ? "~" : "");
}

std::string fixed_of(const std::string& text) {
  const auto number = parse_number(text);
  const auto fixed = number ? to_fixed(*number, 0) : std::nullopt;
  if (!fixed) return "range";
  const bool is_negative = fixed->units < 0;
  const UInt128 size = static_cast<UInt128>(is_negative ? -fixed->units : fixed->units);
  std::string rest = std::to_string(static_cast<std::uint64_t>(size % kRestUnits));
  rest.insert(0, 18 - rest.size(), '0');
  return (is_negative ? "-" : "") + std::to_string(static_cast<std::uint64_t>(size / kRestUnits)) +
         "." + rest + (fixed->is_rounded ? "~" : "");
}

std::string weight_text(const std::string& rate) {
  const auto number = parse_number(rate);
  const auto weight = number ? to_weight(*number) : std::nullopt;
  if (!weight) return "rate";
  return std::to_string(weight->whole) + " " + std::to_string(weight->rest);
}

TEST(StatsdNumberTest, ReadsWhatTheGrammarAllows) {
  EXPECT_EQ(x_of("5"), "5");
  EXPECT_EQ(x_of("+5"), "5");
  EXPECT_EQ(x_of("-5"), "-5");
  EXPECT_EQ(x_of("1e3"), "1000");
  EXPECT_EQ(x_of("1E3"), "1000");
  EXPECT_EQ(x_of("1e+03"), "1000");
  EXPECT_EQ(x_of(".5", 3), "500");
  EXPECT_EQ(x_of("5.", 3), "5000");
  EXPECT_EQ(x_of("-0.0"), "0");
  EXPECT_EQ(x_of("320", 3), "320000");
}

TEST(StatsdNumberTest, RefusesEverythingElse) {
  for (const char* text : {"", ".", "+", "-", "--1", "1e", "1e+", "e5", ".e5", "0x10", "1_000",
                           " 5", "5 ", "NaN", "nan", "inf", "+Inf", "Infinity", "\xE2\x88\x9E",
                           "undefined", "1.2.3", "1e5.5", "1,5", "True"}) {
    EXPECT_EQ(x_of(text), "value") << text;
  }
}

TEST(StatsdNumberTest, RoundsHalfToEven) {
  EXPECT_EQ(x_of("0.5"), "0~");
  EXPECT_EQ(x_of("1.5"), "2~");
  EXPECT_EQ(x_of("2.5"), "2~");
  EXPECT_EQ(x_of("-2.5"), "-2~");
  EXPECT_EQ(x_of("2.5000000000000000000000000001"), "3~");
  EXPECT_EQ(x_of("1.234567", 3), "1235~");
  EXPECT_EQ(x_of("0.0123", 3), "12~");
  EXPECT_EQ(x_of("1e-7", 3), "0~");
  EXPECT_EQ(x_of("1e-400", 3), "0~");
  EXPECT_EQ(x_of("1234567890123456789.5"), "1234567890123456790~");
  EXPECT_EQ(x_of("1234567890123456788.5"), "1234567890123456788~");
  EXPECT_EQ(x_of("1234567890123456788.50000001"), "1234567890123456789~");
}

TEST(StatsdNumberTest, IsExactUpToItsRange) {
  EXPECT_EQ(x_of("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(x_of("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(x_of("9223372036854775808"), "range");
  EXPECT_EQ(x_of("-9223372036854775809"), "range");
  EXPECT_EQ(x_of("9223372036854775807", 3), "range");
  EXPECT_EQ(x_of("9223372036854775.807", 3), "9223372036854775807");
  EXPECT_EQ(x_of("9223372036854775807.5"), "range");
  EXPECT_EQ(x_of("1e+21"), "range");
  EXPECT_EQ(x_of("1e999999999999"), "range");
  EXPECT_EQ(x_of("0e999999999999"), "0");
  EXPECT_EQ(x_of("0." + std::string(40, '0') + "25e42"), "25");
  EXPECT_EQ(x_of(std::string(60'000, '1') + "e-59998"), "11~");
}

TEST(StatsdNumberTest, KeepsEighteenDecimals) {
  EXPECT_EQ(fixed_of("0.5"), "0.500000000000000000");
  EXPECT_EQ(fixed_of("-3.25"), "-3.250000000000000000");
  EXPECT_EQ(fixed_of("0.0000000000000000005"), "0.000000000000000000~");
  EXPECT_EQ(fixed_of("0.9999999999999999999"), "1.000000000000000000~");
  EXPECT_EQ(fixed_of("123456789.123456789123456789"), "123456789.123456789100000000~");
  EXPECT_EQ(fixed_of("1e30"), "range");
}

TEST(StatsdNumberTest, ComputesWhatASampleStandsFor) {
  EXPECT_EQ(weight_text("1"), "1 0");
  EXPECT_EQ(weight_text("0.1"), "10 0");
  EXPECT_EQ(weight_text("1e-1"), "10 0");
  EXPECT_EQ(weight_text("0.3"), "3 333333333333333334");
  EXPECT_EQ(weight_text("1e-18"), "1000000000000000000 0");
  for (const char* text : {"0", "-0.5", "1.5", "2", "1e-19", "abc", ""}) {
    EXPECT_EQ(weight_text(text), "rate") << text;
  }
}

}  // namespace
}  // namespace tallyfs
