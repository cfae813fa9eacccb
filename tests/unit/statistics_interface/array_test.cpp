#include <limits>
#include <vector>

#include "core/base/saturating.h"
#include "core/statistics/types/array_statistic.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(ArrayTest, PutsASampleUnderTheFirstBoundAtOrAboveIt) {
  Fixture fixture("on=1 type=array scale=lin base_interval=10 range_min=0 range_max=25");
  fixture.add({{.x = -1},
               {.x = 0},
               {.x = 1},
               {.x = 5},
               {.x = 10},
               {.x = 11},
               {.x = 20},
               {.x = 21},
               {.x = 27},
               {.x = 30},
               {.x = 31},
               {.x = 1000, .y = 5}});
  EXPECT_EQ(fixture.data(), "s <=0 2\ns <=10 3\ns <=20 2\ns <=30 3\ns >30 6\n");
  // -1, 27, 30, 31 and 1000, each once.
  EXPECT_EQ(fixture.attribute("hits_out_of_range"), "5");
}

TEST(ArrayTest, APowerOfTwoIsDividedLikeAnyOther) {
  Fixture fixture("on=1 type=array scale=lin base_interval=8 range_min=-8 range_max=16");
  fixture.add({{.x = -9},
               {.x = -8},
               {.x = -7},
               {.x = 0},
               {.x = 1},
               {.x = 8},
               {.x = 9},
               {.x = 16},
               {.x = 17}});
  EXPECT_EQ(fixture.data(), "s <=-8 2\ns <=0 2\ns <=8 2\ns <=16 2\ns >16 1\n");
}

TEST(ArrayTest, CountsOnALogarithmicScale) {
  Fixture fixture("on=1 type=array scale=log2 base_interval=1 range_min=0 range_max=8");
  fixture.add({{.x = 0}, {.x = 1}, {.x = 2}, {.x = 3}, {.x = 4}, {.x = 5}, {.x = 8}, {.x = 9}});
  EXPECT_EQ(fixture.data(), "s <=0 1\ns <=1 1\ns <=2 1\ns <=4 2\ns <=8 2\ns >8 1\n");
}

TEST(ArrayTest, LogarithmicBoundsNeedNoPowerOfTwo) {
  Fixture fixture("on=1 type=array scale=log2 base_interval=3 range_min=-2 range_max=9");
  fixture.add({{.x = -2}, {.x = -1}, {.x = 1}, {.x = 2}, {.x = 4}, {.x = 5}, {.x = 10}, {.x = 11}});
  EXPECT_EQ(fixture.data(), "s <=-2 1\ns <=1 2\ns <=4 2\ns <=10 2\ns >10 1\n");
}

TEST(ArrayTest, ARangeOfOneNumberHasTwoIntervals) {
  Fixture fixture("on=1 type=array scale=log2 base_interval=1 range_min=5 range_max=5");
  fixture.add({{.x = 4}, {.x = 5}, {.x = 6}});
  EXPECT_EQ(fixture.data(), "s <=5 2\ns >5 1\n");
}

TEST(ArrayTest, WorksOverAllOf64Bits) {
  Fixture fixture("on=1 type=array scale=lin base_interval=0xffffffffffffffff");
  fixture.add({{.x = kMin}, {.x = kMin + 1}, {.x = kMax}});
  EXPECT_EQ(fixture.data(),
            "s <=-9223372036854775808 1\ns <=9223372036854775807 2\n"
            "s >9223372036854775807 0\n");
  EXPECT_EQ(fixture.define("type=array scale=log2 base_interval=0x8000000000000001"), "");
  fixture.add({{.x = 0}, {.x = 1}, {.x = 2}, {.x = kMax}});
  EXPECT_EQ(fixture.data(),
            "s <=-9223372036854775808 0\ns <=1 2\ns <=9223372036854775810 2\n"
            "s >9223372036854775810 0\n");
}

TEST(ArrayTest, ASmallStepFarFromItsRangeIsStillAbove) {
  Fixture fixture(
      "on=1 type=array scale=lin base_interval=1 range_min=-9223372036854775808 "
      "range_max=-9223372036854775807");
  fixture.add(kMax);
  EXPECT_EQ(fixture.data(),
            "s <=-9223372036854775808 0\ns <=-9223372036854775807 0\n"
            "s >-9223372036854775807 1\n");
}

TEST(ArrayTest, TotalsStopAtTheEndOf64Bits) {
  Fixture fixture("on=1 type=array scale=lin base_interval=1 range_min=0 range_max=0");
  fixture.add(0, ~std::uint64_t{0});
  EXPECT_EQ(fixture.add(0), 1u);
  EXPECT_EQ(fixture.data(), "s <=0 18446744073709551615\ns >0 0\n");
  // What comes behind it in the same run is counted.
  fixture.add({{.x = 0}, {.x = 1}, {.x = 0, .y = 5}, {.x = 7, .y = 2}});
  EXPECT_EQ(fixture.data(), "s <=0 18446744073709551615\ns >0 3\n");
}

TEST(ArrayTest, SumsXTimesYWhereverXLies) {
  const Definition definition{.range_min = 0, .range_max = 10, .settings = ArraySettings{}};
  ArrayStatistic array(ArraySettings{}, definition);
  const std::vector<Sample> small{{.x = 3, .y = 2}, {.x = 100}, {.x = 0, .y = 7}};
  EXPECT_FALSE(array.add(small));
  EXPECT_TRUE(array.sum() == 106);
  EXPECT_FALSE(array.has_negative());
  const std::vector<Sample> large{{.x = kMax, .y = ~std::uint64_t{0}}, {.x = -1}};
  EXPECT_TRUE(array.add(large));  // the counter of `>`
  EXPECT_TRUE(array.sum() == 105 + product(kMax, ~std::uint64_t{0}));
  EXPECT_TRUE(array.has_negative());
  EXPECT_TRUE(array.add(large));
  EXPECT_TRUE(array.sum() == kInt128Max - 1);
}

}  // namespace
}  // namespace tallyfs::statistics
