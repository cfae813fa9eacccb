#include "feeders/clock/cycle_clock.h"

#include <string>
#include <vector>

#include "cycle_clock_fixture.h"

namespace tallyfs {
namespace {

TEST_P(CycleClockTest, TellsMonotonicToAMicrosecondForHours) {
  world_.slew(37);
  for (int i = 0; i < 3 * 3600 * 4; ++i) {
    world_.advance(kSecond / 4 + i);
    ASSERT_LE(off_monotonic(), 1000);
  }
}

TEST_P(CycleClockTest, StaysWithinAMicrosecondWhileMonotonicIsSlewed) {
  for (int i = 0; i < 20'000; ++i) {
    if (i % 1000 == 500) world_.slew(i % 2000 == 500 ? 500 : -500);
    world_.advance(300'000);
    ASSERT_LE(off_monotonic(), 1000) << i;
  }
}

TEST_P(CycleClockTest, NeverStepsBack) {
  std::uint64_t last = 0;
  std::uint64_t last_cycles = 0;
  for (int i = 0; i < 100'000; ++i) {
    if (i % 700 == 0) world_.slew(i % 1400 == 0 ? 500 : -500);
    world_.advance(i % 97 * 100);
    if (i % 50 == 0) clock_->upkeep(Wall::Cause::kDue);
    const std::uint64_t cycles = clock_->cycles();
    const std::uint64_t now = clock_->now_ns();
    ASSERT_GE(now, last) << i;
    ASSERT_GE(cycles, last_cycles);
    last = now;
    last_cycles = cycles;
  }
}

TEST_P(CycleClockTest, ConvertsDurations) {
  wait(10 * kSecond);
  const std::uint64_t begun = clock_->cycles();
  world_.advance(5000 * kSecond);
  const auto ns = static_cast<double>(clock_->to_ns(clock_->cycles() - begun));
  EXPECT_NEAR(ns, 5000e9, 5000.0 * 100);
  EXPECT_EQ(clock_->to_ns(0), 0u);
}

TEST_P(CycleClockTest, SaturatesADurationThatDoesNotFit) {
  driver_.rate_hz = 1000;
  if (is_monotonic()) {
    EXPECT_LE(clock_->to_ns(UINT64_MAX), UINT64_MAX);
    return;
  }
  world_.counter_hz = 1000;
  begin();
  EXPECT_EQ(clock_->to_ns(UINT64_MAX), UINT64_MAX);
}

TEST_P(CycleClockTest, TellsTheTimeOfDayOfAStamp) {
  std::vector<Stored> stored;
  for (int i = 0; i < 300; ++i) {
    stored.push_back(store());
    wait(kSecond / 10);
  }
  for (const Stored& each : stored) ASSERT_LE(off(each), 30);
}

TEST_P(CycleClockTest, TellsItAtOnceToo) {
  wait(3 * kSecond);
  for (int i = 0; i < 1000; ++i) {
    world_.advance(i * 1000);
    const Stored now = store();
    ASSERT_LE(off(now), 30);
  }
}

TEST_P(CycleClockTest, ASlewInMidIntervalStaysWithinTheBound) {
  wait(5 * kSecond);
  world_.advance(kSecond / 3);
  const Stored before = store();
  world_.advance(kSecond / 3);
  world_.slew(500);
  const Stored at = store();
  world_.advance(kSecond / 6);
  const Stored behind = store();
  for (const Stored& each : {before, at, behind}) EXPECT_LE(off(each), 500'000);
  wait(3 * kSecond);
  for (const Stored& each : {before, at, behind}) EXPECT_LE(off(each), 500'000);
  const Stored later = store();
  EXPECT_LE(off(later), 30);
}

// With the clock in use, a slew is noticed at the next look, and hardly matters.
TEST_P(CycleClockTest, ASlewIsDatedWhileTheClockIsInUse) {
  std::vector<Stored> stored;
  for (int i = 0; i < 5000; ++i) {
    if (i == 2500) world_.slew(500);
    world_.advance(kMs);
    (void)clock_->now_ns();
    if (i % 10 == 0) stored.push_back(store());
  }
  for (const Stored& each : stored) ASSERT_LE(off(each), 1000);
}

TEST_P(CycleClockTest, StepsOfTheWallClockDoNotReachStampsBeforeThem) {
  for (const std::int64_t step : {kMs, -kMs, kSecond, -kSecond}) {
    wait(2 * kSecond);
    const Stored before = store();
    wait(kSecond);
    world_.step_wall(step);
    clock_->upkeep(Wall::Cause::kTold);
    const Stored behind = store();
    wait(2 * kSecond);
    EXPECT_LE(off(before), 30);
    EXPECT_LE(off(behind), 30);
    EXPECT_EQ(clock_->status().last_step_ns, step);
  }
  EXPECT_EQ(clock_->status().steps, 4u);
}

TEST_P(CycleClockTest, AStampInAnIntervalWithAStepSaysSo) {
  wait(2 * kSecond);
  world_.advance(kSecond / 4);
  const Stored before = store();
  world_.step_wall(kMs);
  world_.advance(kSecond / 2);
  const Stored behind = store();
  EXPECT_LE(off(before), kMs + 60);  // and not more than it says
  EXPECT_LE(off(behind), kMs + 60);
  EXPECT_GE(clock_->time_of(before.stamp).time->error_ns, static_cast<std::uint64_t>(kMs));
}

TEST_P(CycleClockTest, ALeapSecondIsTakenWhereItWas) {
  world_.set_wall(FakeWorld::kStartOfDay - 2 * kSecond - kSecond / 2);
  begin();
  wait(2 * kSecond);
  world_.advance(kSecond / 4);
  const Stored before = store();  // 23:59:59.75
  world_.advance(kSecond / 4);
  world_.step_wall(-kSecond);
  world_.advance(kSecond / 4);
  const Stored within = store();  // 23:59:59.25 again
  world_.advance(kSecond);
  const Stored behind = store();
  for (const Stored& each : {before, within, behind}) EXPECT_LE(off(each), 60);
  EXPECT_EQ(clock_->status().leap_seconds, 1u);
}

TEST_P(CycleClockTest, ASuspendMakesStampsStale) {
  wait(2 * kSecond);
  const Stored before = store();
  const std::uint64_t ns_before = clock_->now_ns();
  world_.suspend(3600 * kSecond);
  const auto answer = clock_->time_of(before.stamp);
  // What had an anchor behind it before the suspend may still be asked for until that is noticed.
  if (answer.time) clock_->upkeep(Wall::Cause::kTold);
  EXPECT_EQ(clock_->time_of(before.stamp).why, CycleClock::TimeError::kOtherEpoch);
  const Stored behind = store();
  EXPECT_LE(off(behind), 60);
  EXPECT_LE(off_monotonic(), 1000);
  EXPECT_LT(clock_->now_ns() - ns_before, 1'000'000u);
  const auto status = clock_->status();
  EXPECT_EQ(status.suspends, 1u);
  EXPECT_EQ(status.epoch, 2u);
  EXPECT_EQ(status.steps, 0u);
}

TEST_P(CycleClockTest, AnAnchorThatIsGoneIsOutOfRange) {
  const Stored first = store();
  wait(70 * kSecond);
  const auto answer = clock_->time_of(first.stamp);
  EXPECT_FALSE(answer.time);
  EXPECT_EQ(answer.why, CycleClock::TimeError::kTooOld);
  EXPECT_EQ(clock_->status().anchors, room_.size());
}

TEST_P(CycleClockTest, AnEmptyStampHasNoTime) {
  EXPECT_EQ(clock_->time_of({}).why, CycleClock::TimeError::kEmpty);
  EXPECT_EQ(clock_->time_of({.cycles = 5, .epoch = 99}).why, CycleClock::TimeError::kEmpty);
}

INSTANTIATE_TEST_SUITE_P(Drivers, CycleClockTest, testing::Values("fake", "monotonic"),
                         [](const auto& driver) { return std::string(driver.param); });

}  // namespace
}  // namespace tallyfs
