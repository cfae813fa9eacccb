#include "tests/unit/statistics_interface/stand.h"

namespace tallyfs::statistics {
namespace {

using std::chrono::milliseconds;

TEST(LastTest, ShowsNothingBeforeTheFirstSample) { EXPECT_EQ(Stand("on=1 type=last").data(), ""); }

TEST(LastTest, ShowsTheNewestByTimeAndThenByArrival) {
  Stand stand("on=1 type=last");
  stand.add({{.x = 5, .time = milliseconds(3)}});
  EXPECT_EQ(stand.data(), "s [0.003000] 5\n");
  stand.add({{.x = 6, .time = milliseconds(2)}});
  EXPECT_EQ(stand.data(), "s [0.003000] 5\n");
  stand.add({{.x = -7, .y = 0, .time = milliseconds(3)}});
  EXPECT_EQ(stand.data(), "s [0.003000] -7\n");
}

TEST(LastTest, WhatIsOutOfRangeIsNotTheNewest) {
  Stand stand("on=1 type=last range_max=10");
  stand.add({{.x = 5}, {.x = 11}});
  EXPECT_EQ(stand.data(), "s [0.000000] 5\n");
  EXPECT_EQ(stand.attribute("hits_out_of_range"), "1");
}

TEST(LastTest, AResetForgetsIt) {
  Stand stand("on=1 type=last");
  stand.add(5);
  EXPECT_EQ(stand.define("data=reset"), "");
  EXPECT_EQ(stand.data(), "");
}

}  // namespace
}  // namespace tallyfs::statistics
