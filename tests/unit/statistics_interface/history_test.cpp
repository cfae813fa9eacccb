#include <algorithm>
#include <sstream>

#include "tests/unit/allocated.h"
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kThreeSeconds =
    "on=1 type=history entries_max=3 mode=increments period=1000000";

TEST(HistoryTest, PrintsZeroForAPeriodWithoutSamples) {
  Fixture fixture(kThreeSeconds);
  fixture.add(7);
  EXPECT_EQ(fixture.data(), "");
  fixture.clock.advance(seconds(2));
  EXPECT_EQ(fixture.data(), "s [1.000000] 1\ns [2.000000] 0\n");
}

TEST(HistoryTest, KeepsTheNewestEntriesMax) {
  Fixture fixture(kThreeSeconds);
  for (std::uint64_t y = 1; y <= 5; ++y) {
    fixture.add(1, y);
    fixture.clock.advance(seconds(1));
  }
  EXPECT_EQ(fixture.data(), "s [3.000000] 3\ns [4.000000] 4\ns [5.000000] 5\n");
}

TEST(HistoryTest, SumsProductsAndRanges) {
  Fixture products("on=1 type=history entries_max=3 mode=products period=1000000");
  products.add({{.x = -3, .y = 2}, {.x = 1, .y = 1}});
  products.clock.advance(seconds(1));
  EXPECT_EQ(products.data(), "s [1.000000] -5\n");

  Fixture range("on=1 type=history entries_max=3 mode=range period=1000000");
  range.add({{.x = 1, .y = 3}, {.x = 128, .y = 1}});
  range.clock.advance(seconds(2));
  EXPECT_EQ(range.data(), "s [1.000000] 4 1 32.750 128\ns [2.000000] 0 0 0.000 0\n");
}

TEST(HistoryTest, PeriodsCountFromTheLastReset) {
  Fixture fixture(kThreeSeconds);
  fixture.add(1);
  fixture.clock.advance(milliseconds(1500));
  EXPECT_EQ(fixture.define("data=reset"), "");
  fixture.add(1);
  fixture.clock.advance(milliseconds(999));
  EXPECT_EQ(fixture.data(), "");
  fixture.clock.advance(milliseconds(1));
  EXPECT_EQ(fixture.data(), "s [2.500000] 1\n");
}

TEST(HistoryTest, ASampleAtTheEndOfAPeriodBelongsToTheNext) {
  Fixture fixture(kThreeSeconds);
  fixture.clock.advance(seconds(1));
  fixture.add(1, 5);
  fixture.clock.advance(seconds(1));
  EXPECT_EQ(fixture.data(), "s [1.000000] 0\ns [2.000000] 5\n");
}

TEST(HistoryTest, TimeStandsStillWhileOff) {
  Fixture fixture(kThreeSeconds);
  fixture.add(1, 4);
  fixture.clock.advance(milliseconds(2500));
  EXPECT_EQ(fixture.define("on=0"), "");
  fixture.add(1, 100);
  fixture.clock.advance(seconds(10));
  // The third period was interrupted and is not complete.
  EXPECT_EQ(fixture.data(), "s [1.000000] 4\ns [2.000000] 0\n");
  EXPECT_EQ(fixture.define("on=1"), "");  // at 12.5
  EXPECT_EQ(fixture.data(), "s [1.000000] 4\ns [2.000000] 0\ns [3.000000] 0\n");
  fixture.add(1, 9);
  fixture.clock.advance(seconds(1));
  EXPECT_EQ(fixture.data(), "s [2.000000] 0\ns [3.000000] 0\ns [13.000000] 9\n");
}

TEST(HistoryTest, AnInterruptedPeriodGoesOnWhenSwitchedOnWithinIt) {
  Fixture fixture(kThreeSeconds);
  fixture.add(1, 1);
  EXPECT_EQ(fixture.define("on=0"), "");
  fixture.clock.advance(milliseconds(500));
  EXPECT_EQ(fixture.define("on=1"), "");
  fixture.add(1, 2);
  fixture.clock.advance(milliseconds(500));
  EXPECT_EQ(fixture.data(), "s [1.000000] 3\n");
}

TEST(HistoryTest, FirstPrintsThePeriodInWhichItWasSwitchedOn) {
  Fixture fixture("type=history entries_max=3 mode=increments period=1000000");
  fixture.clock.advance(milliseconds(4700));
  EXPECT_EQ(fixture.data(), "");
  EXPECT_EQ(fixture.define("on=1"), "");
  fixture.clock.advance(milliseconds(300));
  EXPECT_EQ(fixture.data(), "s [5.000000] 0\n");
}

TEST(HistoryTest, AResetTogetherWithOffLeavesNoPeriodBehind) {
  Fixture fixture(kThreeSeconds);
  fixture.add(1);
  EXPECT_EQ(fixture.define("on=0 data=reset"), "");
  fixture.clock.advance(seconds(5));
  EXPECT_EQ(fixture.define("on=1"), "");
  EXPECT_EQ(fixture.data(), "");
}

TEST(HistoryTest, ALateSampleGoesIntoItsOwnPeriod) {
  Fixture fixture(kThreeSeconds);
  fixture.clock.advance(milliseconds(2100));
  fixture.add({{.x = 1, .y = 1, .time = milliseconds(2050)},
               {.x = 1, .y = 2, .time = milliseconds(1999)},
               {.x = 1, .y = 4, .time = milliseconds(0)},
               {.x = 1, .y = 8, .time = milliseconds(2100)}});
  fixture.clock.advance(milliseconds(900));
  EXPECT_EQ(fixture.data(), "s [1.000000] 4\ns [2.000000] 2\ns [3.000000] 9\n");
}

TEST(HistoryTest, ASampleOlderThanAllPeriodsGoesIntoTheOldest) {
  Fixture fixture(kThreeSeconds);
  fixture.clock.advance(milliseconds(10'500));
  fixture.add({{.x = 1, .y = 3, .time = seconds(1)},
               {.x = 1, .y = 4, .time = std::chrono::nanoseconds::min()}});
  EXPECT_EQ(fixture.data(), "s [8.000000] 7\ns [9.000000] 0\ns [10.000000] 0\n");
}

TEST(HistoryTest, ASampleFromTheFutureCountsAsNow) {
  Fixture fixture(kThreeSeconds);
  fixture.add({{.x = 1, .y = 3, .time = std::chrono::nanoseconds::max()}});
  fixture.clock.advance(seconds(1));
  EXPECT_EQ(fixture.data(), "s [1.000000] 3\n");
}

TEST(HistoryTest, IdleDaysOfMicrosecondsCostNoMoreThanTheEntries) {
  Fixture fixture("on=1 type=history entries_max=2 mode=increments period=1");
  fixture.add(1);
  fixture.clock.advance(std::chrono::hours(24 * 365));  // 3e13 periods: a loop over them never ends
  fixture.add(1);
  EXPECT_EQ(fixture.data(), "s [31535999.999999] 0\ns [31536000.000000] 0\n");
}

// 3.6 million of them between two samples, of which a million are kept; each is a block written,
// and none of the others.
TEST(HistoryTest, EmptyPeriodsCostNeitherMemoryNorAStepEach) {
  Fixture fixture("on=1 type=history entries_max=1048576 mode=range period=1000");
  constexpr std::size_t kBlockBytes = 1024 * 64;
  const std::size_t before = allocated_bytes();
  for (int i = 0; i < 1000; ++i) {
    fixture.clock.advance(std::chrono::hours(1));
    fixture.add(7);
  }
  EXPECT_LT(allocated_bytes() - before, 1000 * kBlockBytes);
  fixture.clock.advance(milliseconds(1));
  const std::string text = fixture.data();
  EXPECT_EQ(std::ranges::count(text, '\n'), 1'048'576);
  EXPECT_TRUE(text.ends_with("s [3600000.000000] 0 0 0.000 0\ns [3600000.001000] 1 7 7.000 7\n"))
      << text.substr(text.size() - 100);
}

TEST(HistoryTest, ALateSampleGoesIntoAnEmptyPeriodOrBehindTheTimeWhenItWasOff) {
  Fixture fixture("on=1 type=history entries_max=10000 mode=increments period=1000");
  fixture.clock.advance(milliseconds(3000));
  EXPECT_EQ(fixture.define("on=0"), "");
  fixture.clock.advance(milliseconds(3000));
  EXPECT_EQ(fixture.define("on=1"), "");
  fixture.clock.advance(milliseconds(3000));
  fixture.add({{.x = 1, .y = 1, .time = milliseconds(1500)},
               {.x = 1, .y = 2, .time = milliseconds(4000)},
               {.x = 1, .y = 3, .time = milliseconds(7000)}});
  std::string found;
  std::istringstream lines(fixture.data());
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (!line.ends_with(" 0")) found += line + "\n";
  }
  EXPECT_EQ(found, "s [1.501000] 1\ns [6.001000] 2\ns [7.001000] 3\n");
  EXPECT_EQ(count, 6001u);
}

TEST(HistoryTest, APeriodThatEndsIsAChangeWhenItIsNoticed) {
  Fixture fixture(kThreeSeconds);
  fixture.add(1);
  fixture.clock.advance(milliseconds(1500));
  const Timestamp noticed = fixture.clock.now();
  EXPECT_EQ(fixture.last_change(), noticed);
  fixture.clock.advance(milliseconds(400));
  EXPECT_EQ(fixture.last_change(), noticed);
}

TEST(HistoryTest, AnotherAttributeLeavesThePeriodAsItWas) {
  Fixture fixture(kThreeSeconds);
  EXPECT_EQ(fixture.define("entries_max=4"), "");
  EXPECT_EQ(fixture.attribute("period"), "1000000");
}

}  // namespace
}  // namespace tallyfs::statistics
