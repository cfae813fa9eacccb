#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

using std::chrono::milliseconds;

TEST(LastTest, ShowsNothingBeforeTheFirstSample) {
  EXPECT_EQ(Fixture("on=1 type=last").data(), "");
}

TEST(LastTest, ShowsTheNewestByTimeAndThenByArrival) {
  Fixture fixture("on=1 type=last");
  fixture.add({{.x = 5, .time = milliseconds(3)}});
  EXPECT_EQ(fixture.data(), "s [0.003000] 5\n");
  fixture.add({{.x = 6, .time = milliseconds(2)}});
  EXPECT_EQ(fixture.data(), "s [0.003000] 5\n");
  fixture.add({{.x = -7, .y = 0, .time = milliseconds(3)}});
  EXPECT_EQ(fixture.data(), "s [0.003000] -7\n");
}

TEST(LastTest, WhatIsOutOfRangeIsNotTheNewest) {
  Fixture fixture("on=1 type=last range_max=10");
  fixture.add({{.x = 5}, {.x = 11}});
  EXPECT_EQ(fixture.data(), "s [0.000000] 5\n");
  EXPECT_EQ(fixture.attribute("hits_out_of_range"), "1");
}

TEST(LastTest, AResetForgetsIt) {
  Fixture fixture("on=1 type=last");
  fixture.add(5);
  EXPECT_EQ(fixture.define("data=reset"), "");
  EXPECT_EQ(fixture.data(), "");
}

}  // namespace
}  // namespace tallyfs::statistics
