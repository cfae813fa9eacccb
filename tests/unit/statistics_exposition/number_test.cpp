#include "core/statistics/exposition/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/base/saturating.h"

namespace tallyfs::statistics {
namespace {

std::string decimal(Int128 value, const UnitFactor& factor) {
  std::string text;
  append_decimal(text, {.value = value, .scale = scale_of(factor)});
  return text;
}

std::string go(double value) {
  std::string text;
  append_go_double(text, value);
  return text;
}

TEST(NumberTest, PrintsWholeNumbersAsTheyAre) {
  EXPECT_EQ(decimal(0, {}), "0");
  EXPECT_EQ(decimal(-17, {}), "-17");
  EXPECT_EQ(decimal(std::numeric_limits<std::uint64_t>::max(), {}), "18446744073709551615");
  EXPECT_EQ(decimal(kInt128Max, {}), "170141183460469231731687303715884105727");
  EXPECT_EQ(decimal(kInt128Min, {}), "-170141183460469231731687303715884105728");
}

TEST(NumberTest, PrintsConvertedOnesAsExactDecimals) {
  EXPECT_EQ(decimal(1750, {1, 1'000'000}), "0.00175");
  EXPECT_EQ(decimal(-1'000'000, {1, 1'000'000}), "-1");
  EXPECT_EQ(decimal(0, {1, 1'000'000}), "0");
  EXPECT_EQ(decimal(1'500'000'000, {1, 1'000'000'000}), "1.5");
  EXPECT_EQ(decimal(3, {1, 8}), "0.375");
  EXPECT_EQ(decimal(7, {3'600, 1}), "25200");
  EXPECT_EQ(decimal(5, {1, 100}), "0.05");
}

TEST(NumberTest, KeepsZerosAtTheEndOfSoManyPlaces) {
  const auto with_places = [](Int128 value, unsigned decimals, unsigned places) {
    std::string text;
    append_decimal(text, {.value = value, .scale = {.decimals = decimals, .places = places}});
    return text;
  };
  EXPECT_EQ(with_places(150, 2, 2), "1.50");
  EXPECT_EQ(with_places(0, 2, 2), "0.00");
  EXPECT_EQ(with_places(-300, 2, 2), "-3.00");
  EXPECT_EQ(with_places(1'500, 5, 2), "0.015");
  EXPECT_EQ(with_places(150'000, 5, 2), "1.50");
  EXPECT_EQ(with_places(150, 2, 0), "1.5");
}

TEST(NumberTest, ConvertsWhat128BitsDoNotHold) {
  EXPECT_EQ(decimal(kInt128Max, {1u << 30, 1}), "182687704666362864775460604089535377455917826048");
  EXPECT_EQ(decimal(kInt128Max, {1, 1'000'000}), "170141183460469231731687303715884.105727");
  EXPECT_EQ(decimal(Int128{10} * 1'000'000'000'000'000'000, {60, 1}), "600000000000000000000");
}

TEST(NumberTest, TheDoubleIsTheNearest) {
  EXPECT_EQ(to_double({.value = 1750, .scale = scale_of({1, 1'000'000})}), 0.00175);
  EXPECT_EQ(to_double({.value = Int128{1} << 53}), 9007199254740992.0);
  EXPECT_EQ(to_double({.value = (Int128{1} << 53) + 3}), 9007199254740996.0);
  EXPECT_EQ(to_double({.value = kInt128Min}), -std::ldexp(1.0, 127));
}

TEST(NumberTest, PrintsDoublesAsGoDoes) {
  EXPECT_EQ(go(0), "0.0");
  EXPECT_EQ(go(0.00025), "0.00025");
  EXPECT_EQ(go(1), "1.0");
  EXPECT_EQ(go(-2.5), "-2.5");
  EXPECT_EQ(go(100000), "100000.0");
  EXPECT_EQ(go(1e6), "1e+06");
  EXPECT_EQ(go(2097152), "2.097152e+06");
  EXPECT_EQ(go(0.0001), "0.0001");
  // Whatever the memory held before.
  EXPECT_EQ(go(1.5e-300), "1.5e-300");
  EXPECT_EQ(go(0.000131072), "0.000131072");
  EXPECT_EQ(go(1e-5), "1e-05");
  EXPECT_EQ(go(std::ldexp(1.0, 63)), "9.223372036854776e+18");
  EXPECT_EQ(go(std::numeric_limits<double>::infinity()), "+Inf");
}

}  // namespace
}  // namespace tallyfs::statistics
