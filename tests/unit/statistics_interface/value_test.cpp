#include <limits>

#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

constexpr std::int64_t kXMin = std::numeric_limits<std::int64_t>::min();
constexpr std::uint64_t kYMax = std::numeric_limits<std::uint64_t>::max();

TEST(ValueTest, SumsYInIncrements) {
  Fixture fixture("on=1");
  EXPECT_EQ(fixture.data(), "s 0\n");
  fixture.add({{.x = 5, .y = 2}, {.x = -7, .y = 3}, {.x = 0, .y = 0}});
  EXPECT_EQ(fixture.data(), "s 5\n");
}

TEST(ValueTest, SumsXTimesYInProducts) {
  Fixture fixture("on=1 mode=products");
  EXPECT_EQ(fixture.data(), "s 0\n");
  fixture.add({{.x = 5, .y = 2}, {.x = -7, .y = 3}, {.x = 100, .y = 0}});
  EXPECT_EQ(fixture.data(), "s -11\n");
}

TEST(ValueTest, IncrementsStopAtTheEndOf64BitsAndSaySoOnce) {
  Fixture fixture("on=1");
  EXPECT_EQ(fixture.add(1, kYMax), 0u);
  EXPECT_EQ(fixture.data(), "s 18446744073709551615\n");
  EXPECT_EQ(fixture.add(1, 1), 1u);
  EXPECT_EQ(fixture.add(1, 1), 0u);
  EXPECT_EQ(fixture.data(), "s 18446744073709551615\n");
  EXPECT_EQ(fixture.define("data=reset"), "");
  fixture.add({{.x = 1, .y = kYMax}});
  EXPECT_EQ(fixture.add(1, 1), 1u);
}

TEST(ValueTest, ProductsPrintAllOf128BitsAndStopAtTheirEnd) {
  Fixture fixture("on=1 mode=products");
  fixture.add(kXMin, kYMax);  // -2^63 * (2^64 - 1) = -2^127 + 2^63
  EXPECT_EQ(fixture.data(), "s -170141183460469231722463931679029329920\n");
  EXPECT_EQ(fixture.add(kXMin, 2), 1u);
  EXPECT_EQ(fixture.data(), "s -170141183460469231731687303715884105728\n");
  fixture.add(1, 1);
  EXPECT_EQ(fixture.data(), "s -170141183460469231731687303715884105727\n");
}

}  // namespace
}  // namespace tallyfs::statistics
