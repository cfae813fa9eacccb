#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

using std::chrono::microseconds;

TEST(RawTest, PrintsTimeSerialXAndYOldestFirst) {
  Fixture fixture("on=1 type=raw entries_max=3");
  EXPECT_EQ(fixture.data(), "");
  fixture.add(
      {{.x = -5, .y = 2, .time = microseconds(1'000'001)}, {.x = 7, .time = microseconds(2)}});
  EXPECT_EQ(fixture.data(), "s [1.000001] 0 -5 2\ns [0.000002] 1 7 1\n");
}

TEST(RawTest, KeepsTheNewestAndGoesOnCounting) {
  Fixture fixture("on=1 type=raw entries_max=3");
  fixture.add({{.x = 0}, {.x = 1}, {.x = 2}, {.x = 3}});
  EXPECT_EQ(fixture.data(), "s [0.000000] 1 1 1\ns [0.000000] 2 2 1\ns [0.000000] 3 3 1\n");
  fixture.add({{.x = 4}, {.x = 5}});
  EXPECT_EQ(fixture.data(), "s [0.000000] 3 3 1\ns [0.000000] 4 4 1\ns [0.000000] 5 5 1\n");
  fixture.add({{.x = 6}, {.x = 7}, {.x = 8}, {.x = 9}, {.x = 10}, {.x = 11}, {.x = 12}});
  EXPECT_EQ(fixture.data(), "s [0.000000] 10 10 1\ns [0.000000] 11 11 1\ns [0.000000] 12 12 1\n");
}

TEST(RawTest, SerialsStartAgainAtAReset) {
  Fixture fixture("on=1 type=raw entries_max=3");
  fixture.add({{.x = 1}, {.x = 2}, {.x = 3}, {.x = 4}, {.x = 5}});
  EXPECT_EQ(fixture.define("data=reset"), "");
  fixture.add(9);
  EXPECT_EQ(fixture.data(), "s [0.000000] 0 9 1\n");
}

}  // namespace
}  // namespace tallyfs::statistics
