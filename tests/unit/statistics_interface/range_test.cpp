#include "core/base/saturating.h"
#include "core/sums/sums.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

std::string average(Int128 sum, std::uint64_t number) {
  std::string text;
  append_average(text, sum, number);
  return text;
}

TEST(RangeTest, IsAllZerosWithoutSamples) {
  EXPECT_EQ(Fixture("on=1 type=range").data(), "s 0 0 0.000 0\n");
}

TEST(RangeTest, AveragesNegativeSamplesExactly) {
  Fixture fixture("on=1 type=range");
  fixture.add({{.x = -1, .y = 1}, {.x = -2, .y = 2}});
  EXPECT_EQ(fixture.data(), "s 3 -2 -1.667 -1\n");
}

TEST(RangeTest, WeighsXByY) {
  Fixture fixture("on=1 type=range");
  fixture.add({{.x = 1, .y = 3}, {.x = 128, .y = 1}});
  EXPECT_EQ(fixture.data(), "s 4 1 32.750 128\n");
}

TEST(RangeTest, SamplesWithoutWeightCountForMinAndMax) {
  Fixture fixture("on=1 type=range");
  fixture.add(-5, 0);
  EXPECT_EQ(fixture.data(), "s 0 -5 0.000 -5\n");
  fixture.add(3);
  EXPECT_EQ(fixture.data(), "s 1 -5 3.000 3\n");
}

TEST(RangeTest, RoundsToNearestWithTiesAwayFromZero) {
  EXPECT_EQ(average(19999, 20000), "1.000");  // 0.99995; in 2006, 0.1000
  EXPECT_EQ(average(-19999, 20000), "-1.000");
  EXPECT_EQ(average(1, 2000), "0.001");  // 0.0005
  EXPECT_EQ(average(-1, 2000), "-0.001");
  EXPECT_EQ(average(1, 2001), "0.000");
  EXPECT_EQ(average(-1, 2001), "0.000");
  EXPECT_EQ(average(-1, 3), "-0.333");
  EXPECT_EQ(average(2, 3), "0.667");
  EXPECT_EQ(average(0, 3), "0.000");
  EXPECT_EQ(average(-2005, 2000), "-1.003");  // -1.0025
  EXPECT_EQ(average(41, 1), "41.000");
}

TEST(RangeTest, AveragesSumsThatFillTheirType) {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  EXPECT_EQ(average(kInt128Max, kAll), "9223372036854775808.500");
  EXPECT_EQ(average(kInt128Min, kAll), "-9223372036854775808.500");
  EXPECT_EQ(average(static_cast<Int128>(INT64_MIN) * static_cast<Int128>(kAll), kAll),
            "-9223372036854775808.000");
}

TEST(RangeTest, NumberHas64Bits) {
  Fixture fixture("on=1 type=range");
  fixture.add(2, 5'000'000'000);
  EXPECT_EQ(fixture.data(), "s 5000000000 2 2.000 2\n");
  EXPECT_EQ(fixture.add(2, ~std::uint64_t{0}), 1u);
  EXPECT_EQ(fixture.data().substr(0, 23), "s 18446744073709551615 ");
}

}  // namespace
}  // namespace tallyfs::statistics
