// The clock with drivers of all kinds: chosen, switched off and on, narrow, slow, with a rate or
// without.
#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cycle_clock_fixture.h"
#include "feeders/clock/wide_counter.h"

namespace tallyfs {
namespace {

class DriverClockTest : public CycleClockTest {};
class CounterClockTest : public CycleClockTest {};

TEST_P(DriverClockTest, SwitchedOffItSaysNothing) {
  clock_->switch_off();
  EXPECT_EQ(clock_->cycles(), 0u);
  EXPECT_EQ(clock_->now_ns(), 0u);
  EXPECT_EQ(clock_->to_ns(1000), 0u);
  const Stored none = store();
  EXPECT_EQ(none.stamp.epoch, 0u);
  EXPECT_EQ(clock_->status().driver, nullptr);
  world_.advance(10 * kSecond);
  clock_->switch_on(*s_driver);
  EXPECT_LE(off_monotonic(), 1000);
  const Stored now = store();
  EXPECT_LE(off(now), 60);
}

TEST_P(DriverClockTest, AnotherDriverBeginsAnEpochAndDoesNotStepBack) {
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
  EXPECT_EQ(clock_->time_of(before.stamp).why, CycleClock::TimeError::kOtherEpoch);
  EXPECT_EQ(clock_->status().epoch, 4u);
}

TEST_P(CounterClockTest, ACounterThatTheKernelNoLongerTrustsIsLeft) {
  static std::atomic<Trust> trust;
  trust = Trust::kYes;
  Driver driver = world_.driver();
  driver.trusted = [] { return trust.load(); };
  begin(driver);
  wait(3 * kSecond);
  EXPECT_EQ(clock_->status().driver, s_driver);
  trust = Trust::kUnknown;
  wait(kSecond);
  EXPECT_EQ(clock_->status().driver, s_driver) << "nothing speaks against it";
  trust = Trust::kNo;
  const std::uint64_t last = clock_->now_ns();
  wait(kSecond);
  EXPECT_EQ(clock_->status().driver, &kMonotonicDriver);
  EXPECT_EQ(clock_->status().fallbacks, 1u);
  EXPECT_GE(clock_->now_ns(), last);
  EXPECT_LE(off_monotonic(), 1000);
}

TEST_P(CounterClockTest, MeasuresARateThatIsNotKnown) {
  driver_ = world_.driver();
  driver_.rate_hz = 0;
  begin(driver_);
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
  begin(driver_);
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
    begin(driver_);
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
  begin(driver_);
  const Stored before = store();
  world_.advance(1000 * kSecond);
  EXPECT_LE(off_monotonic(), 2000);
  EXPECT_EQ(clock_->time_of(before.stamp).why, CycleClock::TimeError::kOtherEpoch);
  EXPECT_EQ(clock_->status().jumps, 1u);
}

// Its rate counts as the driver says it until 2,000 of its steps tell better.
TEST_P(CounterClockTest, ASlowCounterKeepsTheRateThatWasSaid) {
  for (const double hz : {1e6, 32'768.0, 1000.0, 100.0}) {
    world_.counter_hz = hz;
    begin();
    for (int i = 0; i < 20'000; ++i) {
      world_.advance(10'000);
      ASSERT_LE(off_monotonic(), 1000 + 1e9 / hz) << hz;
      const auto second = static_cast<double>(clock_->to_ns(static_cast<std::uint64_t>(hz)));
      ASSERT_NEAR(second, 1e9, 2e6) << hz << ' ' << i;
    }
    wait(10 * kSecond);
    EXPECT_NEAR(clock_->status().rate_hz, hz, hz / 1000);
    EXPECT_EQ(clock_->status().frequency_changes + clock_->status().jumps, 0u);
    EXPECT_EQ(clock_->status().fallbacks, 0u);
  }
}

TEST_P(CounterClockTest, ARateThatCannotBeMeasuredIsRefused) {
  world_.counter_hz = 1000;
  Driver slow = world_.driver();
  slow.rate_hz = 0;
  EXPECT_FALSE(clock_->select(slow));
  EXPECT_EQ(clock_->status().driver, s_driver);
  EXPECT_NEAR(static_cast<double>(clock_->to_ns(2'100'000)), 1e6, 1000);
  begin(slow);
  EXPECT_EQ(clock_->status().driver, &kMonotonicDriver);
  EXPECT_EQ(clock_->to_ns(1000), 1000u);
}

// As with set_cyc2ns_scale(): until the rate is measured, sched_clock() does not rely on it.
TEST_P(CounterClockTest, ARateThatWasSaidFarOffDoesNotLeadTheTimeAstray) {
  for (const std::uint64_t said : {1'000'000ULL, 3'000'000'000ULL, 100'000'000'000ULL}) {
    Driver wrong = world_.driver();
    wrong.rate_hz = said;
    begin(wrong);
    for (int i = 0; i < 1000; ++i) {
      world_.advance(5'000);
      ASSERT_LE(off_monotonic(), 1000) << said << ' ' << i;
    }
    EXPECT_EQ(clock_->status().jumps, 0u);
  }
}

// A rate that the driver does not give is measured over 200 us, and is off by far more than it
// drifts.
TEST_P(CounterClockTest, TheDriftIsToldAgainstASecond) {
  Driver driver = world_.driver();
  driver.rate_hz = 0;
  world_.reading_ns = 100;
  begin(driver);
  world_.advance(kSecond / 2);
  clock_->upkeep(Wall::Cause::kDue);
  EXPECT_EQ(clock_->status().drift_ppm, 0);
  wait(10 * kSecond);
  EXPECT_NEAR(clock_->status().drift_ppm, 0, 1);
  world_.slew(-100);
  wait(10 * kSecond);
  EXPECT_NEAR(clock_->status().drift_ppm, 100, 1);
}

TEST_P(DriverClockTest, SelectingADriverDoesNotSwitchTheClockOn) {
  const Driver other = is_monotonic() ? world_.driver() : kMonotonicDriver;
  clock_->switch_off();
  EXPECT_TRUE(clock_->select(other));
  EXPECT_FALSE(clock_->is_on());
  EXPECT_EQ(clock_->now_ns(), 0u);
  clock_->switch_on(*s_driver);
  EXPECT_EQ(clock_->status().driver, &other);
  EXPECT_LE(off_monotonic(), 1000);
}

TEST_P(DriverClockTest, BegunSwitchedOffItStaysSoUntilSwitchedOn) {
  clock_ = std::make_unique<CycleClock>(
      world_, []() -> const Driver* { return nullptr; }, room_);
  EXPECT_TRUE(clock_->select(driver_));
  EXPECT_EQ(clock_->cycles(), 0u);
  clock_ = std::make_unique<CycleClock>(
      world_, []() -> const Driver* { return nullptr; }, room_);
  EXPECT_EQ(clock_->status().rate_hz, 0) << "never measured";
  EXPECT_EQ(clock_->status().epoch, 0u);
  clock_->switch_on(driver_);
  EXPECT_EQ(clock_->status().driver, &driver_);
  EXPECT_EQ(clock_->status().epoch, 1u);
}

TEST_P(CounterClockTest, ANarrowDriverThatWaitedToBeChosenHasNoGap) {
  world_.counter_hz = 1e6;
  Driver narrow = world_.driver(16);
  WideCounter wide;
  wide.begin(narrow, world_);
  narrow.wide = &wide;
  for (int i = 0; i < 3; ++i) {
    world_.advance(3600 * kSecond);
    clock_->select(narrow);
    EXPECT_EQ(clock_->status().gaps, 0u);
    EXPECT_EQ(clock_->status().jumps, 0u);
    EXPECT_LE(off(store()), 2000);
    clock_->select(kMonotonicDriver);
  }
}

// One thread uses the clock as soon as another one's first use lets it.
TEST(FirstUseTest, AConcurrentThreadGetsNoEmptyStampAndNoEmptyDuration) {
  static constexpr Driver kUnsaid = {
      .kind = Driver::Kind::kOther, .name = "unsaid", .read = [](void*) {
        return static_cast<std::uint64_t>(SystemReference().monotonic_ns());
      }};
  static constexpr SystemReference kReference;
  for (int i = 0; i < 100; ++i) {
    std::array<Anchor, 4> room{};
    CycleClock clock(
        kReference, [] { return &kUnsaid; }, room);
    std::thread other([&] {
      while (!clock.is_on()) std::this_thread::yield();
      CycleTimestamp stamp;
      clock.store(stamp);
      EXPECT_NE(stamp.epoch, 0u);
      EXPECT_NE(stamp.cycles, 0u);
      EXPECT_NE(clock.to_ns(1'000'000), 0u);
      EXPECT_TRUE(clock.time_of(stamp).time);
    });
    (void)clock.now_ns();
    other.join();
  }
}

INSTANTIATE_TEST_SUITE_P(Drivers, CounterClockTest, testing::Values("fake"));
INSTANTIATE_TEST_SUITE_P(Drivers, DriverClockTest, testing::Values("fake", "monotonic"),
                         [](const auto& driver) { return std::string(driver.param); });

}  // namespace
}  // namespace tallyfs
