// What a counter or the kernel should not do, and what the clock makes of it.
#include <string>
#include <vector>

#include "cycle_clock_fixture.h"

namespace tallyfs {
namespace {

class FaultClockTest : public CycleClockTest {};
class FaultCounterTest : public CycleClockTest {};

TEST_P(FaultCounterTest, ACounterThatBeganAnewInASuspendIsNoticed) {
  wait(2 * kSecond);
  const Stored before = store();
  world_.suspend(3600 * kSecond, 12'345);
  EXPECT_LE(off_monotonic(), 1000);
  EXPECT_EQ(clock_->time_of(before.stamp).why, CycleClock::TimeError::kOtherEpoch);
  const Stored behind = store();
  wait(kSecond);
  EXPECT_LE(off(behind), 60);
}

TEST_P(FaultCounterTest, ACounterThatWentOnInASuspendIsNoticed) {
  wait(2 * kSecond);
  world_.suspend(3600 * kSecond, world_.counter() + 3600 * 2'100'000'000ULL);
  // As it must not step back, it may have to wait for CLOCK_MONOTONIC.
  EXPECT_LE(off_monotonic(), kMs);
  world_.advance(kMs);
  EXPECT_LE(off_monotonic(), 1000);
  EXPECT_EQ(clock_->status().suspends, 1u);
}

TEST_P(FaultCounterTest, AJumpBackOfTheCounterBeginsAnEpoch) {
  wait(2 * kSecond);
  const std::uint64_t last = clock_->now_ns();
  world_.set_counter(77);
  world_.advance(kMs);
  EXPECT_LE(off_monotonic(), 1000);
  EXPECT_GE(clock_->now_ns(), last);
  EXPECT_EQ(clock_->status().jumps, 1u);
  EXPECT_EQ(clock_->status().epoch, 2u);
}

TEST_P(FaultCounterTest, AChangeOfFrequencyIsFlagged) {
  wait(5 * kSecond);
  world_.slew(500);
  wait(5 * kSecond);
  world_.slew(-500);
  wait(5 * kSecond);
  EXPECT_EQ(clock_->status().frequency_changes, 0u) << "NTP may do so";
  const Stored before = store();
  wait(kSecond);
  world_.change_frequency(2'100'000'000 * 0.9);
  wait(5 * kSecond);
  EXPECT_EQ(clock_->status().frequency_changes, 1u);
  EXPECT_LE(off(before), 2000);
  const Stored behind = store();
  EXPECT_LE(off(behind), 60);
  EXPECT_LE(off_monotonic(), 1000);
  EXPECT_NEAR(clock_->status().drift_ppm, -100'000, 2000);
}

// By as little as 10 ms, while the clock is in use; and by an hour.
TEST_P(FaultCounterTest, AJumpForwardOfTheCounterBeginsAnEpoch) {
  for (const std::uint64_t jump : {21'000'000ULL, 3600 * 2'100'000'000ULL}) {
    begin();
    for (int i = 0; i < 5000; ++i) {
      world_.advance(kMs);
      ASSERT_LE(off_monotonic(), 1000);
    }
    const Stored before = store();
    world_.set_counter(world_.counter() + jump);
    world_.advance(kMs);
    EXPECT_LE(off_monotonic(), kMs) << "it may have to wait, since it must not step back";
    for (int i = 0; i < 100; ++i) {
      world_.advance(kMs);
      ASSERT_LE(off_monotonic(), 1000) << i;
    }
    EXPECT_EQ(clock_->status().jumps, 1u);
    EXPECT_EQ(clock_->status().epoch, 2u);
    EXPECT_EQ(clock_->status().frequency_changes, 0u);
    EXPECT_NEAR(clock_->status().rate_hz, 2.1e9, 2.1e9 * 1e-4);
    EXPECT_EQ(clock_->time_of(before.stamp).why, CycleClock::TimeError::kOtherEpoch);
  }
}

// A jump within a second, of which one looks like a change of frequency, spoils no later rate.
TEST_P(FaultCounterTest, NoRateIsTakenFromAnIntervalWithAChange) {
  wait(5 * kSecond);
  world_.advance(kSecond / 2);
  const Stored before = store();
  world_.set_counter(world_.counter() + 21'000'000);
  const Stored behind = store();
  world_.advance(kSecond / 2);
  clock_->upkeep(Wall::Cause::kDue);
  EXPECT_EQ(clock_->status().frequency_changes, 1u);
  for (int i = 0; i < 100; ++i) {
    world_.advance(10'000);
    ASSERT_LE(off_monotonic(), 1000) << i;
  }
  EXPECT_NEAR(static_cast<double>(clock_->to_ns(2'100'000'000)), 1e9, 1e6);
  wait(3 * kSecond);
  (void)off(before);  // not more than they say
  (void)off(behind);
  EXPECT_EQ(clock_->status().frequency_changes, 1u);
}

TEST_P(FaultCounterTest, AChangeOfFrequencyCountsOnceWhereverItIs) {
  for (const int tenths : {0, 3, 5, 7, 9}) {
    world_.counter_hz = 2.1e9;
    begin();
    wait(5 * kSecond);
    world_.advance(kSecond / 10 * tenths);
    world_.change_frequency(2.1e9 * 0.9);
    world_.advance(kSecond / 10 * (10 - tenths));
    wait(5 * kSecond);
    EXPECT_EQ(clock_->status().frequency_changes, 1u) << tenths;
    EXPECT_EQ(clock_->status().epoch, 1u) << tenths;
  }
}

TEST_P(FaultCounterTest, ACounterThatStandsStillIsLeft) {
  wait(3 * kSecond);
  world_.advance(kSecond / 2);
  std::vector<Stored> stored = {store()};
  world_.stop_counter();
  for (int i = 0; i < 40; ++i) {
    world_.advance(kMs);
    stored.push_back(store());
    for (const Stored& each : stored) {
      // Right, or none.
      const auto answer = clock_->time_of(each.stamp);
      if (answer.time) {
        (void)off(each);
      } else {
        EXPECT_EQ(answer.why, CycleClock::TimeError::kOtherEpoch);
      }
    }
  }
  EXPECT_EQ(clock_->status().driver, &kMonotonicDriver);
  EXPECT_EQ(clock_->status().fallbacks, 1u);
  EXPECT_LE(off_monotonic(), 1000);
  EXPECT_LE(off(store()), 60);
}

TEST_P(FaultCounterTest, ACounterThatCountsDownIsLeft) {
  static FakeWorld* world;
  world = &world_;
  Driver down = world_.driver();
  down.read = [](void*) { return ~world->counter(); };
  begin(down);
  for (int i = 0; i < 20; ++i) {
    const Stored now = store();
    wait(kSecond);
    EXPECT_EQ(clock_->time_of(now.stamp).why, CycleClock::TimeError::kOtherEpoch);
    ASSERT_LE(off_monotonic(), 1000);
    if (clock_->status().driver == &kMonotonicDriver) break;
  }
  EXPECT_EQ(clock_->status().driver, &kMonotonicDriver);
  EXPECT_GE(clock_->status().jumps, 1u);
  EXPECT_EQ(clock_->status().fallbacks, 1u);
}

// Under a debugger, say.
TEST_P(FaultClockTest, ALookThatTakesSecondsIsStillOne) {
  wait(kSecond);
  world_.reading_ns = 9 * kSecond;
  clock_->upkeep(Wall::Cause::kDue);
  world_.reading_ns = 20;
  world_.advance(kMs);
  EXPECT_LE(off_monotonic(), 1000);
  EXPECT_EQ(clock_->status().jumps, 0u);
}

TEST_P(FaultClockTest, AWideLookHidesNoStep) {
  wait(5 * kSecond);
  world_.advance(kSecond / 2);
  world_.step_wall(kMs);
  const Stored behind = store();
  world_.advance(kSecond / 2);
  world_.reading_ns = 2 * kMs;
  clock_->upkeep(Wall::Cause::kTold);
  world_.reading_ns = 20;
  const Stored later = store();
  wait(3 * kSecond);
  (void)off(behind);
  (void)off(later);
  EXPECT_EQ(clock_->status().steps, 1u);
}

// The kernel does it at its next tick.
TEST_P(FaultClockTest, ALeapSecondThatComesLateIsOne) {
  for (const std::int64_t look_each : {kMs, kSecond}) {
    world_.set_wall(FakeWorld::kStartOfDay - 3 * kSecond - kSecond / 2);
    begin();
    wait(3 * kSecond, look_each);
    wait(kSecond / 2, std::min(look_each, kSecond / 2));
    world_.advance(3 * kMs);
    const Stored before = store();
    world_.step_wall(-kSecond);
    const Stored behind = store();
    wait(2 * kSecond, look_each);
    (void)off(before);
    (void)off(behind);
    EXPECT_EQ(clock_->status().leap_seconds, 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Drivers, FaultCounterTest, testing::Values("fake"));
INSTANTIATE_TEST_SUITE_P(Drivers, FaultClockTest, testing::Values("fake", "monotonic"),
                         [](const auto& driver) { return std::string(driver.param); });

}  // namespace
}  // namespace tallyfs
