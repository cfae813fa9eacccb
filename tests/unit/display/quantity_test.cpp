#include "tools/display/quantity.h"

#include <gtest/gtest.h>

#include <limits>

namespace tallyfs::view {
namespace {

std::string three(double value, const char* units) {
  return number_text(value, quantity_of_x(units), Digits::kThree, Charset::kAscii);
}

TEST(QuantityTest, ScalesTimesToThreeDigits) {
  EXPECT_EQ(three(27, "microseconds/requests"), "27us");
  EXPECT_EQ(three(999, "microseconds/requests"), "999us");
  EXPECT_EQ(three(1048576, "microseconds/requests"), "1.05s");
  EXPECT_EQ(three(2000, "microseconds/requests"), "2.00ms");
  EXPECT_EQ(three(999'999, "microseconds/requests"), "1.00s");
  EXPECT_EQ(three(120, "seconds/jobs"), "2.00min");
  EXPECT_EQ(three(0.5, "microseconds/requests"), "500ns");
  EXPECT_EQ(three(-2500, "nanoseconds/requests"), "-2.50us");
}

TEST(QuantityTest, ScalesBytesByPowersOfTwo) {
  EXPECT_EQ(three(512, "bytes/requests"), "512B");
  EXPECT_EQ(three(4096, "bytes/requests"), "4.00KiB");
  EXPECT_EQ(three(3 * 1073741824.0, "bytes/requests"), "3.00GiB");
}

TEST(QuantityTest, ScalesOtherUnitsByThousands) {
  EXPECT_EQ(three(934, "degrees/samples"), "934");
  EXPECT_EQ(three(201'000, "degrees/samples"), "201k");
  EXPECT_EQ(three(1'210'000, ""), "1.21M");
}

TEST(QuantityTest, RoundsBoundsAwayFromTheValue) {
  const Quantity ms = quantity_of_x("microseconds/requests");
  const auto bound = [&](double value, double like, Digits digits, Rounding rounding) {
    return number_like(value, like, ms, digits, rounding);
  };
  EXPECT_EQ(bound(9'979, 10'000, Digits::kTwo, Rounding::kDown), "9.9");
  EXPECT_EQ(bound(9'911, 10'000, Digits::kTwo, Rounding::kUp), "10");
  EXPECT_EQ(bound(99'990, 99'990, Digits::kThree, Rounding::kDown), "99.9");
  EXPECT_EQ(bound(99'910, 99'990, Digits::kThree, Rounding::kUp), "100");
  EXPECT_EQ(bound(1'234'001, 900'000, Digits::kTwo, Rounding::kUp), "1235");
  const Quantity parts = quantity_of_x("-/", 4);
  EXPECT_EQ(number_like(12'3, 12'3, parts, Digits::kTwo, Rounding::kUp), "0.013");
  EXPECT_EQ(number_like(12'9, 12'9, parts, Digits::kTwo, Rounding::kDown), "0.012");
}

TEST(QuantityTest, ANumberWithDecimalsHasNoExponent) {
  EXPECT_EQ(number_text(995, quantity_of_x("-/", 1), Digits::kTwo, Charset::kAscii), "100");
}

TEST(QuantityTest, XWithDecimalsIsTheDecimalInItsUnit) {
  const auto text = [](double value, const char* units, unsigned decimals, Digits digits) {
    return number_text(value, quantity_of_x(units, decimals), digits, Charset::kAscii);
  };
  EXPECT_EQ(text(250'000, "seconds/n", 6, Digits::kThree), "250ms");
  EXPECT_EQ(text(250'000, "seconds/n", 6, Digits::kAll), "0.25s");
  EXPECT_EQ(text(150, "seconds/n", 2, Digits::kThree), "1.50s");
  EXPECT_EQ(text(150, "seconds/n", 2, Digits::kAll), "1.5s");
  EXPECT_EQ(text(15'360, "KiB/n", 1, Digits::kThree), "1.50MiB");
  EXPECT_EQ(text(215, "degrees/n", 1, Digits::kThree), "21.5");
  EXPECT_EQ(text(1, "degrees/n", 9, Digits::kAll), "0.000000001");
  EXPECT_EQ(exact_text(-5, quantity_of_x("euros/n", 2)), "-0.05");
  EXPECT_EQ(quantity_of_x("euros/n", 2).name, "euros");
  EXPECT_EQ(exact_text(1500, quantity_of_x("", 3)), "1.5");
}

TEST(QuantityTest, PartsOfANumberAreThatNumber) {
  EXPECT_EQ(three(2500, "thousandths/updates"), "2.5");
  EXPECT_EQ(three(0, "thousandths/updates"), "0");
  EXPECT_EQ(three(500'000, "millionths/samples"), "0.5");
  EXPECT_EQ(three(123, "millionths/samples"), "0.000123");
  EXPECT_EQ(three(1'234'000, "thousandths/updates"), "1.23k");
  EXPECT_EQ(three(-1500, "thousandths/updates"), "-1.5");
  EXPECT_EQ(three(2500, "thousandths/thousandths"), "2.50k");
  const Quantity quantity = quantity_of_x("thousandths/updates");
  EXPECT_EQ(number_text(1234567, quantity, Digits::kAll, Charset::kAscii), "1234.567");
  EXPECT_EQ(number_text(98'765, quantity, Digits::kTwo, Charset::kAscii), "99");
}

TEST(QuantityTest, PartsOfANumberAreExactToTheLastDigit) {
  const Quantity quantity = quantity_of_x("thousandths/updates");
  EXPECT_EQ(exact_text(-500, quantity), "-0.5");
  EXPECT_EQ(exact_text(-1500, quantity), "-1.5");
  EXPECT_EQ(exact_text(0, quantity), "0");
  EXPECT_EQ(exact_text(2000, quantity), "2");
  EXPECT_EQ(exact_text(std::numeric_limits<std::int64_t>::min(), quantity),
            "-9223372036854775.808");
  EXPECT_EQ(grouped_text(1'234'567'050, quantity), "1,234,567.05");
  EXPECT_EQ(grouped_text(1234, {}), "1,234");
}

TEST(QuantityTest, UnitsWithoutSlashAreOfCounts) {
  EXPECT_EQ(quantity_of_x("microseconds").kind, Quantity::Kind::kNumber);
  EXPECT_EQ(quantity_of_counts("requests").name, "requests");
  EXPECT_EQ(quantity_of_counts("microseconds/wakeups").name, "wakeups");
}

TEST(QuantityTest, WritesMicroByTheCharset) {
  const Quantity quantity = quantity_of_x("microseconds/requests");
  EXPECT_EQ(number_text(27, quantity, Digits::kThree, Charset::kUtf8), "27µs");
}

TEST(QuantityTest, ShowsAllDigitsIfAsked) {
  const Quantity quantity = quantity_of_x("microseconds/requests");
  EXPECT_EQ(number_text(1048576, quantity, Digits::kAll, Charset::kAscii), "1048576us");
}

TEST(QuantityTest, GroupsAndSharesExactly) {
  EXPECT_EQ(grouped_text(573437), "573,437");
  EXPECT_EQ(grouped_text(-1234567), "-1,234,567");
  EXPECT_EQ(grouped_text(999), "999");
  EXPECT_EQ(grouped_text(Int128{std::numeric_limits<std::int64_t>::max()} * 2 + 1),
            "18,446,744,073,709,551,615");
  EXPECT_EQ(share_text(1, 1'000'000), "<0.1");
  EXPECT_EQ(share_text(0, 10), "0.0");
  EXPECT_EQ(share_text(499, 1000), "49.9");
  EXPECT_EQ(share_text(1, 0), "-");
}

TEST(QuantityTest, WritesRatesAndDurations) {
  EXPECT_EQ(rate_text(934.2), "934/s");
  EXPECT_EQ(rate_text(0.001), "<0.01/s");
  EXPECT_EQ(duration_text(614'000'000), "10 min 14 s");
  EXPECT_EQ(duration_text(1'500'000), "1.50s");
  EXPECT_EQ(duration_text(7'200'000'000), "2 h 0 min");
}

}  // namespace
}  // namespace tallyfs::view
