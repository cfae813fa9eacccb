// type=history mode=quantiles.
#include "tests/unit/statistics_interface/fixture.h"

namespace tallyfs::statistics {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr char kSeconds[] =
    "on=1 type=history entries_max=5 mode=quantiles period=1000000 precision=8 quantiles=50,99";

Sample at(seconds time, std::int64_t x) { return {.x = x, .time = time + nanoseconds(1)}; }

TEST(QuantileHistoryTest, ShowsPercentilesOfEachPeriod) {
  Fixture fixture(kSeconds);
  fixture.add({at(seconds(0), 3), at(seconds(0), 100), at(seconds(0), 100)});
  fixture.clock.advance(seconds(2));
  EXPECT_EQ(fixture.data(),
            "s [1.000000] 3 3 67.667 100 p50=100 p99=100\n"
            "s [2.000000] 0 0 0.000 0\n");
}

TEST(QuantileHistoryTest, OlderPeriodsStayAsTheyWereShown) {
  Fixture fixture(kSeconds);
  for (int second = 0; second < 5; ++second) {
    fixture.add({at(seconds(second), second + 1), at(seconds(second), 10 * (second + 1))});
    fixture.clock.advance(seconds(1));
  }
  EXPECT_EQ(fixture.data(),
            "s [1.000000] 2 1 5.500 10 p50=1 p99=10\n"
            "s [2.000000] 2 2 11.000 20 p50=2 p99=20\n"
            "s [3.000000] 2 3 16.500 30 p50=3 p99=30\n"
            "s [4.000000] 2 4 22.000 40 p50=4 p99=40\n"
            "s [5.000000] 2 5 27.500 50 p50=5 p99=50\n");
  fixture.clock.advance(seconds(1));
  EXPECT_EQ(fixture.data().substr(0, 14), "s [2.000000] 2");
}

TEST(QuantileHistoryTest, ALateSampleCountsInItsPeriodOrInTheOldestKept) {
  Fixture fixture(kSeconds);
  fixture.clock.advance(seconds(4));
  fixture.add({at(seconds(3), 30), at(seconds(2), 20), at(seconds(0), 7), at(seconds(4), 40)});
  EXPECT_EQ(fixture.data(),
            "s [1.000000] 0 0 0.000 0\n"
            "s [2.000000] 0 0 0.000 0\n"
            "s [3.000000] 2 7 13.500 20 p50=7 p99=20\n"
            "s [4.000000] 1 30 30.000 30 p50=30 p99=30\n");
}

TEST(QuantileHistoryTest, ChangingThePercentilesDiscards) {
  Fixture fixture(kSeconds);
  fixture.add({at(seconds(0), 3)});
  fixture.clock.advance(seconds(1));
  EXPECT_EQ(fixture.define("quantiles=50"), "");
  EXPECT_EQ(fixture.data(), "");
}

TEST(QuantileHistoryTest, TheModeNeedsItsAttributes) {
  Fixture fixture("on=1 type=history entries_max=5 mode=range period=1000000");
  EXPECT_EQ(fixture.define("mode=quantiles"),
            "s: mode=quantiles also needs precision and quantiles");
  EXPECT_EQ(fixture.define("mode=quantiles precision=3 quantiles=1,2,3,4,5"), "");
  EXPECT_EQ(fixture.attribute("quantiles"), "1,2,3,4,5");
  fixture.add({at(seconds(0), 8)});
  fixture.clock.advance(seconds(1));
  EXPECT_EQ(fixture.data(), "s [1.000000] 1 8 8.000 8 p1=8 p2=8 p3=8 p4=8 p5=8\n");
  EXPECT_EQ(fixture.define("mode=range"), "");
  EXPECT_EQ(fixture.attribute("quantiles"), "no quantiles");
}

TEST(QuantileHistoryTest, StandsStillWhileItIsOff) {
  Fixture fixture(kSeconds);
  fixture.add({at(seconds(0), 8)});
  EXPECT_EQ(fixture.define("on=0"), "");
  fixture.clock.advance(seconds(100));
  EXPECT_EQ(fixture.define("on=1"), "");
  EXPECT_EQ(fixture.data(), "s [1.000000] 1 8 8.000 8 p50=8 p99=8\n");
  fixture.clock.advance(seconds(1));
  fixture.add({at(seconds(101), 9)});
  fixture.clock.advance(seconds(3));
  EXPECT_EQ(fixture.data(),
            "s [1.000000] 1 8 8.000 8 p50=8 p99=8\n"
            "s [101.000000] 0 0 0.000 0\n"
            "s [102.000000] 1 9 9.000 9 p50=9 p99=9\n"
            "s [103.000000] 0 0 0.000 0\n"
            "s [104.000000] 0 0 0.000 0\n");
}

TEST(QuantileHistoryTest, AJumpBeyondAllPeriodsLeavesEmptyOnes) {
  Fixture fixture(kSeconds);
  fixture.add({at(seconds(0), 8)});
  fixture.clock.advance(seconds(1000));
  fixture.add({at(seconds(1000), 9)});
  fixture.clock.advance(seconds(1));
  const std::string data = fixture.data();
  EXPECT_EQ(std::count(data.begin(), data.end(), '\n'), 5);
  EXPECT_EQ(data.substr(data.rfind("s [")), "s [1001.000000] 1 9 9.000 9 p50=9 p99=9\n");
}

}  // namespace
}  // namespace tallyfs::statistics
