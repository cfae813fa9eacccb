// A CycleClock in a fake world, for the tests of what it tells, of its drivers, and of
// what it does when a counter fails (cycle_clock_*test.cpp).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string_view>

#include "fake_world.h"
#include "feeders/clock/cycle_clock.h"

namespace tallyfs {

inline constexpr std::int64_t kMs = 1'000'000;

// A clock in a fake world, by a fake driver of its own or by the fake CLOCK_MONOTONIC.
class CycleClockTest : public testing::TestWithParam<const char*> {
 protected:
  CycleClockTest() {
    world_.reading_ns = 20;
    world_.counter_hz = 2'100'000'000;
    begin();
  }
  void begin() { begin(is_fake() ? world_.driver() : kMonotonicDriver); }
  void begin(const Driver& driver) {
    driver_ = driver;
    s_driver = &driver_;
    clock_ = std::make_unique<CycleClock>(
        world_, [] { return s_driver; }, room_);
    (void)clock_->cycles();
  }
  static bool is_fake() { return std::string_view(GetParam()) == "fake"; }
  bool is_monotonic() const { return driver_.kind == Driver::Kind::kMonotonic; }
  void wait(std::int64_t ns, std::int64_t upkeep_each = kSecond) {
    for (; ns > 0; ns -= upkeep_each) {
      world_.advance(std::min(ns, upkeep_each));
      clock_->upkeep(Wall::Cause::kDue);
    }
  }
  struct Stored {
    CycleTimestamp stamp;
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

}  // namespace tallyfs
