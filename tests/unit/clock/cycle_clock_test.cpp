#include "feeders/clock/cycle_clock.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <thread>
#include <vector>

#include "fake_world.h"
#include "feeders/clock/wide_counter.h"

namespace tally {
namespace {

constexpr std::int64_t kSecond = FakeWorld::kSecond;
constexpr std::int64_t kMs = 1'000'000;

// A clock in a fake world, by a fake driver of its own or by the fake CLOCK_MONOTONIC.
class CycleClockTest : public testing::TestWithParam<const char*> {
 protected:
  CycleClockTest() {
    world_.reading_ns = 20;
    world_.counter_hz = 2'100'000'000;
    begin();
  }
  void begin() {
    driver_ = std::string_view(GetParam()) == "fake" ? world_.driver() : kMonotonicDriver;
    s_driver = &driver_;
    clock_ = std::make_unique<CycleClock>(
        world_, [] { return s_driver; }, room_);
    (void)clock_->cycles();
  }
  bool is_monotonic() const { return driver_.kind == Driver::Kind::kMonotonic; }
  void wait(std::int64_t ns, std::int64_t upkeep_each = kSecond) {
    for (; ns > 0; ns -= upkeep_each) {
      world_.advance(std::min(ns, upkeep_each));
      clock_->upkeep(Wall::Cause::kDue);
    }
  }
  struct Stored {
    Timestamp stamp;
    std::int64_t realtime;
  };
  Stored store() {
    Stored stored;
    clock_->store(stored.stamp);
    stored.realtime = world_.realtime_now();
    return stored;
  }
  // How far off the answer is; it must not be more than it says.
  std::int64_t off(const Stored& stored) {
    const auto answer = clock_->time_of(stored.stamp);
    if (!answer.time) return INT64_MAX;
    const std::int64_t off = std::abs(answer.time->ns - stored.realtime);
    EXPECT_LE(off, static_cast<std::int64_t>(answer.time->error_ns));
    return off;
  }
  std::int64_t off_monotonic() {
    const std::int64_t before = world_.monotonic_now();
    const auto ns = static_cast<std::int64_t>(clock_->now_ns());
    return std::max({std::int64_t{0}, before - ns, ns - world_.monotonic_now()});
  }

  static inline const Driver* s_driver = nullptr;
  FakeWorld world_;
  std::array<Anchor, 64> room_{};
  Driver driver_;
  std::unique_ptr<CycleClock> clock_;
};

// What CLOCK_MONOTONIC does not do.
class CounterClockTest : public CycleClockTest {};

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
  EXPECT_EQ(clock_->time_of(before.stamp).why, CycleClock::NoTime::kOtherEpoch);
  const Stored behind = store();
  EXPECT_LE(off(behind), 60);
  EXPECT_LE(off_monotonic(), 1000);
  EXPECT_LT(clock_->now_ns() - ns_before, 1'000'000u);
  const auto status = clock_->status();
  EXPECT_EQ(status.suspends, 1u);
  EXPECT_EQ(status.epoch, 2u);
  EXPECT_EQ(status.steps, 0u);
}

TEST_P(CounterClockTest, ACounterThatBeganAnewInASuspendIsNoticed) {
  wait(2 * kSecond);
  const Stored before = store();
  world_.suspend(3600 * kSecond, 12'345);
  EXPECT_LE(off_monotonic(), 1000);
  EXPECT_EQ(clock_->time_of(before.stamp).why, CycleClock::NoTime::kOtherEpoch);
  const Stored behind = store();
  wait(kSecond);
  EXPECT_LE(off(behind), 60);
}

TEST_P(CounterClockTest, ACounterThatWentOnInASuspendIsNoticed) {
  wait(2 * kSecond);
  world_.suspend(3600 * kSecond, world_.counter() + 3600 * 2'100'000'000ULL);
  // As it must not step back, it may have to wait for CLOCK_MONOTONIC.
  EXPECT_LE(off_monotonic(), kMs);
  world_.advance(kMs);
  EXPECT_LE(off_monotonic(), 1000);
  EXPECT_EQ(clock_->status().suspends, 1u);
}

TEST_P(CounterClockTest, AJumpBackOfTheCounterBeginsAnEpoch) {
  wait(2 * kSecond);
  const std::uint64_t last = clock_->now_ns();
  world_.set_counter(77);
  world_.advance(kMs);
  EXPECT_LE(off_monotonic(), 1000);
  EXPECT_GE(clock_->now_ns(), last);
  EXPECT_EQ(clock_->status().jumps, 1u);
  EXPECT_EQ(clock_->status().epoch, 2u);
}

TEST_P(CounterClockTest, AChangeOfFrequencyIsFlagged) {
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

TEST_P(CycleClockTest, AnAnchorThatIsGoneIsOutOfRange) {
  const Stored first = store();
  wait(70 * kSecond);
  const auto answer = clock_->time_of(first.stamp);
  EXPECT_FALSE(answer.time);
  EXPECT_EQ(answer.why, CycleClock::NoTime::kTooOld);
  EXPECT_EQ(clock_->status().anchors, room_.size());
}

TEST_P(CycleClockTest, AnEmptyStampHasNoTime) {
  EXPECT_EQ(clock_->time_of({}).why, CycleClock::NoTime::kEmpty);
  EXPECT_EQ(clock_->time_of({.cycles = 5, .epoch = 99}).why, CycleClock::NoTime::kEmpty);
}

TEST_P(CycleClockTest, SwitchedOffItSaysNothing) {
  clock_->set_on(false);
  EXPECT_EQ(clock_->cycles(), 0u);
  EXPECT_EQ(clock_->now_ns(), 0u);
  EXPECT_EQ(clock_->to_ns(1000), 0u);
  const Stored none = store();
  EXPECT_EQ(none.stamp.epoch, 0u);
  EXPECT_EQ(clock_->status().driver, nullptr);
  world_.advance(10 * kSecond);
  clock_->set_on(true);
  EXPECT_LE(off_monotonic(), 1000);
  const Stored now = store();
  EXPECT_LE(off(now), 60);
}

TEST_P(CycleClockTest, AnotherDriverBeginsAnEpochAndDoesNotStepBack) {
  wait(2 * kSecond);
  const Stored before = store();
  std::uint64_t last = clock_->now_ns();
  const Driver other = is_monotonic() ? world_.driver() : kMonotonicDriver;
  for (const Driver* each : {&other, s_driver, &other}) {
    clock_->select(*each);
    EXPECT_GE(clock_->now_ns(), last);
    EXPECT_LE(off_monotonic(), 1000);
    last = clock_->now_ns();
    world_.advance(kMs);
  }
  EXPECT_EQ(clock_->time_of(before.stamp).why, CycleClock::NoTime::kOtherEpoch);
  EXPECT_EQ(clock_->status().epoch, 4u);
}

TEST_P(CounterClockTest, ACounterThatTheKernelNoLongerTrustsIsLeft) {
  static std::atomic<bool> trusted;
  trusted = true;
  driver_ = world_.driver();
  driver_.is_trusted = [] { return trusted.load(); };
  clock_ = std::make_unique<CycleClock>(
      world_, [] { return s_driver; }, room_);
  wait(3 * kSecond);
  EXPECT_EQ(clock_->status().driver, s_driver);
  trusted = false;
  const std::uint64_t last = clock_->now_ns();
  wait(kSecond);
  EXPECT_EQ(clock_->status().driver, &kMonotonicDriver);
  EXPECT_EQ(clock_->status().fallbacks, 1u);
  EXPECT_GE(clock_->now_ns(), last);
  EXPECT_LE(off_monotonic(), 1000);
}

TEST_P(CounterClockTest, MeasuresARateThatNobodySays) {
  driver_ = world_.driver();
  driver_.rate_hz = 0;
  clock_ = std::make_unique<CycleClock>(
      world_, [] { return s_driver; }, room_);
  const std::int64_t begun = world_.now();
  (void)clock_->now_ns();
  EXPECT_LE(world_.now() - begun, kMs) << "it takes 200 us";
  for (int i = 0; i < 10'000; ++i) {
    world_.advance(100'000);
    ASSERT_LE(off_monotonic(), 1000) << i;
  }
  EXPECT_NEAR(clock_->status().rate_hz, 2.1e9, 2.1e9 * 1e-7);
}

// Also: what the program set before the first use, or a driver says, is wrong by a little.
TEST_P(CounterClockTest, CorrectsARateThatWasSaidWrongly) {
  driver_ = world_.driver();
  driver_.rate_hz = 2'102'000'000;
  clock_ = std::make_unique<CycleClock>(
      world_, [] { return s_driver; }, room_);
  for (int i = 0; i < 10'000; ++i) {
    world_.advance(90'000);
    ASSERT_LE(off_monotonic(), 1000) << i;
  }
  EXPECT_EQ(clock_->status().frequency_changes, 0u);
  EXPECT_NEAR(clock_->status().drift_ppm, -951, 5);
}

TEST_P(CounterClockTest, ANarrowCounterKeepsTheTime) {
  for (const unsigned bits : {16u, 32u}) {
    world_.counter_hz = 1'000'000;
    world_.set_counter((std::uint64_t{1} << bits) - 1);  // one tick before the wrap
    driver_ = world_.driver(bits);
    WideCounter wide;
    wide.begin(driver_, world_);
    driver_.wide = &wide;
    clock_ = std::make_unique<CycleClock>(
        world_, [] { return s_driver; }, room_);
    const std::int64_t wrap_ns = (std::int64_t{1} << bits) * 1000;
    std::vector<Stored> stored;
    for (int i = 0; i < 1000; ++i) {
      world_.advance(wrap_ns / 100 * (i % 75));
      ASSERT_LE(off_monotonic(), 2000) << i;  // two of its ticks
      stored.push_back(store());
      if (i % 50 == 49) {
        for (const Stored& each : stored) ASSERT_LE(off(each), 4000) << i;
        stored.clear();
      }
    }
    EXPECT_EQ(clock_->status().gaps, 0u);
    world_.advance(wrap_ns * 5 / 2);
    EXPECT_LE(off_monotonic(), 2000);
    EXPECT_EQ(clock_->status().gaps, 1u);
  }
}

TEST_P(CounterClockTest, AGapInDoubtBeginsAnEpoch) {
  world_.counter_hz = 1'000'000;
  driver_ = world_.driver(16);
  WideCounter wide;
  wide.begin(driver_, world_);
  driver_.wide = &wide;
  clock_ = std::make_unique<CycleClock>(
      world_, [] { return s_driver; }, room_);
  const Stored before = store();
  world_.advance(1000 * kSecond);
  EXPECT_LE(off_monotonic(), 2000);
  EXPECT_EQ(clock_->time_of(before.stamp).why, CycleClock::NoTime::kOtherEpoch);
  EXPECT_EQ(clock_->status().jumps, 1u);
}

INSTANTIATE_TEST_SUITE_P(Drivers, CounterClockTest, testing::Values("fake"));
INSTANTIATE_TEST_SUITE_P(Drivers, CycleClockTest, testing::Values("fake", "monotonic"),
                         [](const auto& driver) { return std::string(driver.param); });

}  // namespace
}  // namespace tally
