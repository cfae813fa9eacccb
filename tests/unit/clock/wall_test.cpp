#include "feeders/clock/wall.h"

#include <gtest/gtest.h>

namespace tallyfs {
namespace {

constexpr std::int64_t kAhead = 19'000LL * 86'400 * kSecond;

Interval about(std::int64_t ns) { return {ns - 30, ns + 30}; }
// A look that takes no time.
Interval at(std::int64_t ns) { return {ns, ns}; }

class WallTest : public testing::Test {
 protected:
  WallTest() { wall_.begin(100 * kSecond, about(kAhead)); }
  Wall wall_;
};

TEST_F(WallTest, EachLookNarrowsWhatIsKnown) {
  EXPECT_EQ(wall_.at(100 * kSecond)->error_ns, 30);
  wall_.look(at(101 * kSecond), {kAhead - 2, kAhead + 50}, Wall::Cause::kDue);
  wall_.look(at(102 * kSecond), {kAhead - 50, kAhead + 4}, Wall::Cause::kDue);
  EXPECT_EQ(wall_.at(100 * kSecond)->ns, kAhead + 1);
  EXPECT_EQ(wall_.at(100 * kSecond)->error_ns, 3);
  EXPECT_EQ(wall_.steps(), 0u);
}

TEST_F(WallTest, AStepCountsBehindTheLookThatFoundIt) {
  for (const std::int64_t step : {kSecond / 1000, -kSecond / 1000, 5 * kSecond, -5 * kSecond}) {
    Wall wall = wall_;
    wall.look(at(101 * kSecond), about(kAhead + step), Wall::Cause::kDue);
    EXPECT_EQ(wall.steps(), 1u);
    EXPECT_EQ(wall.last_step_ns(), step);
    EXPECT_EQ(wall.at(100 * kSecond - 1)->ns, kAhead);
    EXPECT_EQ(wall.at(100 * kSecond - 1)->error_ns, 30);
    EXPECT_EQ(wall.at(101 * kSecond)->ns, kAhead + step);
    EXPECT_EQ(wall.at(101 * kSecond)->error_ns, 30);
  }
}

TEST_F(WallTest, BetweenTwoLooksAStepMakesItselfTheError) {
  wall_.look(at(101 * kSecond), about(kAhead + kSecond / 1000), Wall::Cause::kDue);
  EXPECT_EQ(wall_.at(100 * kSecond + 10)->ns, kAhead);
  EXPECT_GE(wall_.at(100 * kSecond + 10)->error_ns, kSecond / 1000);
  EXPECT_GE(wall_.at(101 * kSecond - 10)->error_ns, kSecond / 1000);
}

// However late the thread wakes.
TEST_F(WallTest, AStepThatTheKernelToldOfLiesBetweenTheLooks) {
  wall_.look(at(101 * kSecond), about(kAhead + kSecond / 1000), Wall::Cause::kTold);
  for (const std::int64_t ago : {10'000'000, 60'000'000, 900'000'000}) {
    EXPECT_EQ(wall_.at(101 * kSecond - ago)->ns, kAhead) << "most likely just before the look";
    EXPECT_GE(wall_.at(101 * kSecond - ago)->error_ns, kSecond / 1000);
  }
  EXPECT_EQ(wall_.at(100 * kSecond - 1)->error_ns, 30);
  EXPECT_EQ(wall_.at(101 * kSecond)->error_ns, 30);
}

// The thread was away for 2 ms in the middle of it.
TEST_F(WallTest, AWideLookConfirmsNothing) {
  constexpr std::int64_t kMs = 1'000'000;
  const std::int64_t stepped = kAhead + kMs;
  wall_.look(at(101 * kSecond), {stepped - 2 * kMs, stepped + 1}, Wall::Cause::kTold);
  EXPECT_EQ(wall_.steps(), 0u);
  EXPECT_GE(wall_.at(100 * kSecond + kSecond / 2)->error_ns, kMs);
  wall_.look(at(102 * kSecond), about(stepped), Wall::Cause::kDue);
  EXPECT_EQ(wall_.steps(), 1u);
  EXPECT_GE(wall_.at(100 * kSecond + kSecond / 2)->error_ns, kMs);
  EXPECT_EQ(wall_.at(102 * kSecond)->ns, stepped);
}

TEST_F(WallTest, AStepWhileItLooksIsWithinTheLook) {
  wall_.look({101 * kSecond, 101 * kSecond + 500}, about(kAhead + kSecond), Wall::Cause::kDue);
  EXPECT_GE(wall_.at(101 * kSecond + 100)->error_ns, kSecond);
  EXPECT_EQ(wall_.at(101 * kSecond + 500)->error_ns, 30);
}

TEST_F(WallTest, AnInsertedLeapSecondIsDatedToATick) {
  // Midnight is at 3/10 of a second after the last look.
  const std::int64_t ahead = kAhead - 100 * kSecond - 3 * kSecond / 10;
  wall_.begin(100 * kSecond, about(ahead));
  wall_.look(at(101 * kSecond), about(ahead - kSecond), Wall::Cause::kDue);
  const std::int64_t midnight = 100 * kSecond + 3 * kSecond / 10;
  EXPECT_EQ(wall_.leap_seconds(), 1u);
  EXPECT_EQ(wall_.at(midnight - 1)->ns, ahead);
  EXPECT_EQ(wall_.at(midnight - 1)->error_ns, 30);
  EXPECT_EQ(wall_.at(midnight)->ns, ahead - kSecond) << "the likelier one";
  EXPECT_GE(wall_.at(midnight + 3'000'000)->error_ns, kSecond) << "the kernel may not be there yet";
  EXPECT_EQ(wall_.at(midnight + Wall::kLeapLateMax)->ns, ahead - kSecond);
  EXPECT_EQ(wall_.at(midnight + Wall::kLeapLateMax)->error_ns, 30);
}

// With the clock in use, what it saw after midnight was the old time.
TEST_F(WallTest, ALeapSecondIsOneWhereTheKernelInsertsItLate) {
  const std::int64_t ahead = kAhead - 100 * kSecond;
  wall_.begin(100 * kSecond - 1, about(ahead));
  wall_.look(at(100 * kSecond + 2'000'000), about(ahead), Wall::Cause::kDue);
  wall_.look(at(100 * kSecond + 3'000'000), about(ahead - kSecond), Wall::Cause::kDue);
  EXPECT_EQ(wall_.leap_seconds(), 1u);
  EXPECT_EQ(wall_.at(100 * kSecond + 1'999'999)->ns, ahead);
  EXPECT_EQ(wall_.at(100 * kSecond + 1'999'999)->error_ns, 30);
  EXPECT_GE(wall_.at(100 * kSecond + 2'500'000)->error_ns, kSecond);
  EXPECT_EQ(wall_.at(100 * kSecond + 3'000'000)->ns, ahead - kSecond);
  EXPECT_EQ(wall_.at(100 * kSecond + 3'000'000)->error_ns, 30);
}

TEST_F(WallTest, ASecondLongAfterMidnightIsNoLeapSecond) {
  const std::int64_t ahead = kAhead - 100 * kSecond;
  wall_.begin(100 * kSecond + 30'000'000, about(ahead));
  wall_.look(at(101 * kSecond), about(ahead - kSecond), Wall::Cause::kDue);
  EXPECT_EQ(wall_.leap_seconds(), 0u);
  EXPECT_EQ(wall_.steps(), 1u);
}

TEST_F(WallTest, ADeletedLeapSecondIsDatedToATick) {
  const std::int64_t ahead = kAhead - 101 * kSecond - 3 * kSecond / 10;
  wall_.begin(100 * kSecond, about(ahead));
  wall_.look(at(101 * kSecond), about(ahead + kSecond), Wall::Cause::kDue);
  const std::int64_t jump = 100 * kSecond + 3 * kSecond / 10;
  EXPECT_EQ(wall_.leap_seconds(), 1u);
  EXPECT_EQ(wall_.at(jump - 1)->ns, ahead);
  EXPECT_EQ(wall_.at(jump)->ns, ahead + kSecond);
}

TEST_F(WallTest, AStepOfASecondAtNoonIsNoLeapSecond) {
  wall_.begin(100 * kSecond, about(kAhead + 43'200 * kSecond));
  wall_.look(at(101 * kSecond), about(kAhead + 43'199 * kSecond), Wall::Cause::kDue);
  EXPECT_EQ(wall_.leap_seconds(), 0u);
  EXPECT_EQ(wall_.steps(), 1u);
}

TEST_F(WallTest, ForgetsWhatIsTooManyStepsAgo) {
  for (std::size_t i = 1; i <= Wall::kStepsMax; ++i) {
    const auto n = static_cast<std::int64_t>(i);
    wall_.look(at((100 + n) * kSecond), about(kAhead + n * kSecond / 7), Wall::Cause::kDue);
  }
  EXPECT_EQ(wall_.steps(), Wall::kStepsMax);
  EXPECT_FALSE(wall_.at(100 * kSecond));
  EXPECT_TRUE(wall_.at(103 * kSecond));
}

}  // namespace
}  // namespace tallyfs
