// clock.h as programs call it, on the machine's real clocks. TALLY_CLOCK=monotonic forces that
// driver.
#include "tally/clock.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/clock/status.h"
#include "tests/unit/sanitized.h"

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

#if TALLY_SANITIZED || defined(__aarch64__)
constexpr int kRounds = 100'000;
#else
constexpr int kRounds = 2'000'000;
#endif

// Before main(), and before this process has used the clock in any other way.
struct Early {
  std::uint64_t begun = sched_clock();
  cycles_t cycles = get_cycles();
  fast_timestamp_t stamp{};
  timespec time{};
  int converted = 1;
  int late_scale = set_cyc2ns_scale(2000);
  Early() {
    store_fast_timestamp(&stamp);
    converted = fast_timestamp_to_timespec(&stamp, &time, nullptr);
  }
} g_early;

std::int64_t now_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

TEST(ClockTest, IsThereBeforeMain) {
  EXPECT_GT(g_early.begun, 0u);
  EXPECT_GT(g_early.cycles, 0u);
  EXPECT_GE(sched_clock(), g_early.begun);
  EXPECT_EQ(g_early.converted, 0);
  // Later it can be converted as long as the anchors reach back to it. Emulated, each look seems to
  // find another rate, and all that are kept may be of the last few milliseconds.
  timespec time{};
  const int now = fast_timestamp_to_timespec(&g_early.stamp, &time, nullptr);
  EXPECT_TRUE(now == 0 || (now == -ERANGE && status().anchors == status().anchors_max)) << now;
  EXPECT_EQ(g_early.late_scale, -EBUSY);
}

TEST(ClockTest, UsesTheDriverThatTheEnvironmentNames) {
  const char* const told = std::getenv("TALLY_CLOCK");
  const std::string driver = status().driver;
  if (told && std::string(told) == "monotonic") {
    EXPECT_EQ(driver, told);
  } else {
#if defined(__aarch64__)
    EXPECT_EQ(driver, "cntvct");
#else
    EXPECT_TRUE(driver == "tsc" || driver == "monotonic") << driver;
#endif
  }
}

// Outside what CLOCK_MONOTONIC said before and after; an interrupted thread proves nothing.
TEST(ClockTest, TellsMonotonicWithinAMicrosecond) {
  std::int64_t worst = 0;
  for (int i = 0; i < kRounds; ++i) {
    const std::int64_t before = now_ns(CLOCK_MONOTONIC);
    const auto ns = static_cast<std::int64_t>(sched_clock());
    const std::int64_t after = now_ns(CLOCK_MONOTONIC);
    worst = std::max({worst, before - ns, ns - after});
  }
  EXPECT_LE(worst, 1000);
}

TEST(ClockTest, MeasuresADuration) {
  const std::int64_t before_ns = now_ns(CLOCK_MONOTONIC);
  const cycles_t begun = get_cycles();
  const std::int64_t begun_ns = now_ns(CLOCK_MONOTONIC);
  while (now_ns(CLOCK_MONOTONIC) < begun_ns + 20'000'000) sched_clock();
  const cycles_t cycles = get_cycles() - begun;
  const std::int64_t passed_ns = now_ns(CLOCK_MONOTONIC) - before_ns;
  EXPECT_LE(cycles_to_nsec(cycles), static_cast<std::uint64_t>(passed_ns) + 5'000);
  EXPECT_GE(cycles_to_nsec(cycles), 19'900'000u);
  EXPECT_EQ(cycles_to_usec(cycles), cycles_to_nsec(cycles) / 1000);
}

TEST(ClockTest, SaturatesMicrosecondsAt32Bits) {
  EXPECT_EQ(cycles_to_usec(UINT64_MAX), UINT32_MAX);
  const auto cycles_of_an_hour = static_cast<cycles_t>(3600 * status().rate_hz);
  EXPECT_NEAR(cycles_to_usec(cycles_of_an_hour), 3600e6, 3600.0);
}

TEST(ClockTest, AStampIsWhatGettimeofdayWouldHaveSaid) {
  int same = 0;
  const int rounds = kRounds / 100;
  for (int i = 0; i < rounds; ++i) {
    fast_timestamp_t before, after;
    timeval said{}, first{}, last{};
    std::uint64_t error = 0;
    store_fast_timestamp(&before);
    gettimeofday(&said, nullptr);
    store_fast_timestamp(&after);
    ASSERT_EQ(fast_timestamp_to_timeval(&before, &first, &error), 0);
    ASSERT_EQ(fast_timestamp_to_timeval(&after, &last, nullptr), 0);
    const auto us = [](const timeval& time) { return time.tv_sec * 1'000'000 + time.tv_usec; };
    ASSERT_LE(us(first), us(said) + 1);
    ASSERT_GE(us(last), us(said) - 1);
    same += us(first) <= us(said) && us(said) <= us(last);
  }
  EXPECT_GE(same, rounds / 100 * 99);
}

TEST(ClockTest, TellsTimesBeforeItsFirstAnchorAndNeverStoredOnesApart) {
  timeval time{77, 88};
  fast_timestamp_t stamp{};
  EXPECT_EQ(fast_timestamp_to_timeval(&stamp, &time, nullptr), -EINVAL);
  store_fast_timestamp(&stamp);
  stamp.cycles = 1;
  EXPECT_EQ(fast_timestamp_to_timeval(&stamp, &time, nullptr), -ERANGE);
  EXPECT_EQ(time.tv_sec, 77);
  EXPECT_EQ(time.tv_usec, 88);
}

TEST(ClockTest, NeverStepsBackOverConcurrentThreads) {
  std::atomic<std::uint64_t> latest{0};
  std::atomic<int> faults{0};
  const auto work = [&] {
    cycles_t last_cycles = 0;
    for (int i = 0; i < kRounds; ++i) {
      const std::uint64_t seen = latest.load(std::memory_order_acquire);
      const std::uint64_t now = sched_clock();
      const cycles_t cycles = get_cycles();
      if (now < seen || cycles < last_cycles) ++faults;
      last_cycles = cycles;
      std::uint64_t other = latest.load();
      while (other < now && !latest.compare_exchange_weak(other, now)) {
      }
      if (i % 1000 == 0) tally_clock_upkeep();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(faults.load(), 0);
}

std::uint64_t read_monotonic(void*) {
  return static_cast<std::uint64_t>(now_ns(CLOCK_MONOTONIC)) / 250;  // 4 MHz
}

int register_driver(const char* name, unsigned bits, std::uint64_t hz) {
  const tally_clock_driver driver = {sizeof driver, name, bits, hz, &read_monotonic, nullptr};
  return tally_clock_register(&driver);
}

TEST(ClockTest, RegistersDriversWithinBounds) {
  EXPECT_EQ(register_driver("", 32, 1'000'000), -EINVAL);
  EXPECT_EQ(register_driver(std::string(32, 'x').c_str(), 32, 1'000'000), -EINVAL);
  EXPECT_EQ(register_driver("narrow", 7, 1'000'000), -EINVAL);
  EXPECT_EQ(register_driver("narrow", 65, 1'000'000), -EINVAL);
  EXPECT_EQ(register_driver("narrow", 32, 0), -EINVAL);
  EXPECT_EQ(register_driver("narrow", 32, 100'000'000'001), -EINVAL);
  EXPECT_EQ(register_driver("monotonic", 64, 4'000'000), -EEXIST);
  EXPECT_EQ(register_driver("wide", 64, 0), 0);
  EXPECT_EQ(register_driver("wide", 64, 0), -EEXIST);
  EXPECT_EQ(register_driver("24", 24, 4'000'000), 0);
  EXPECT_EQ(register_driver("16", 16, 4'000'000), 0);
  for (const char* name : {"4", "5", "6", "7", "8"})
    EXPECT_EQ(register_driver(name, 32, 4'000'000), 0);
  EXPECT_EQ(register_driver("9", 32, 4'000'000), -ENOSPC);
  EXPECT_EQ(tally_clock_select("9"), -ENOENT);
  EXPECT_EQ(tally_clock_select(nullptr), -ENOENT);
}

// -ENOTSUP: a rate could not be measured, as where the CPU is taken away in between.
int select_when_measurable(const char* name) {
  int error = -ENOTSUP;
  for (int i = 0; i < 1000 && error == -ENOTSUP; ++i) error = tally_clock_select(name);
  return error;
}

// While threads read, the drivers are changed under them, and the clock is switched off and on.
TEST(ClockTest, ChangesDriversUnderConcurrentReaders) {
  register_driver("wide", 64, 0);
  register_driver("24", 24, 4'000'000);
  register_driver("16", 16, 4'000'000);
  std::atomic<bool> done{false};
  std::atomic<int> faults{0};
  const auto work = [&] {
    std::uint64_t last = 0;
    while (!done) {
      const std::uint64_t now = sched_clock();
      if (now == 0) continue;  // off
      if (now < last) ++faults;
      last = now;
      fast_timestamp_t stamp;
      store_fast_timestamp(&stamp);
      timeval time;
      const int error = fast_timestamp_to_timeval(&stamp, &time, nullptr);
      if (error != 0 && error != -EINVAL && error != -ESTALE && error != -ERANGE) ++faults;
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) threads.emplace_back(work);
  const std::string before = status().driver;
  for (int i = 0; i < 50; ++i) {
    for (const char* name : {"wide", "monotonic", "24", "auto", "16", before.c_str()}) {
      EXPECT_EQ(select_when_measurable(name), 0) << name;
      EXPECT_EQ(status().driver,
                std::strcmp(name, "auto") == 0 ? status().driver : std::string(name));
      const std::int64_t reference = now_ns(CLOCK_MONOTONIC);
      EXPECT_GE(static_cast<std::int64_t>(sched_clock()), reference - 1'000);
    }
    tally_clock_set(TALLY_CLOCK_OFF);
    tally_clock_set(TALLY_CLOCK_ON);
  }
  done = true;
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(faults.load(), 0);
}

TEST(ClockTest, SwitchedOffEverythingIsNothing) {
  tally_clock_set(TALLY_CLOCK_OFF);
  EXPECT_EQ(get_cycles(), 0u);
  EXPECT_EQ(sched_clock(), 0u);
  EXPECT_EQ(cycles_to_nsec(1000), 0u);
  fast_timestamp_t stamp;
  store_fast_timestamp(&stamp);
  timeval time;
  EXPECT_EQ(fast_timestamp_to_timeval(&stamp, &time, nullptr), -EINVAL);
  EXPECT_STREQ(status().driver, "off");
  tally_clock_set(TALLY_CLOCK_ON);
  EXPECT_GT(get_cycles(), 0u);
  EXPECT_GT(sched_clock(), 0u);
}

TEST(ClockTest, AThreadKeepsAnchors) {
  EXPECT_EQ(tally_clock_start_upkeep(9), -EINVAL);
  EXPECT_EQ(tally_clock_start_upkeep(60'001), -EINVAL);
  ASSERT_EQ(tally_clock_start_upkeep(10), 0);
  EXPECT_EQ(tally_clock_start_upkeep(10), -EBUSY);
  // Other tests may have left the room full.
  const tally_clock_status begun = status();
  const std::uint64_t wanted = std::min(begun.anchors + 5, begun.anchors_max);
  while (status().anchors < wanted) std::this_thread::yield();
  EXPECT_EQ(status().has_thread, 1u);
  tally_clock_stop_upkeep();
  EXPECT_EQ(status().has_thread, 0u);
  tally_clock_stop_upkeep();
  ASSERT_EQ(tally_clock_start_upkeep(10), 0);
  tally_clock_stop_upkeep();
}

TEST(ClockTest, RefusesAStatusItDoesNotKnow) {
  tally_clock_status status;
  EXPECT_EQ(tally_clock_get_status(&status, sizeof status - 1), -EINVAL);
  EXPECT_EQ(tally_clock_get_status(nullptr, sizeof status), -EINVAL);
}

TEST(ClockTest, LeavesErrnoAlone) {
  errno = 77;
  tally_clock_upkeep();
  sched_clock();
  fast_timestamp_t stamp{};
  timeval time;
  (void)fast_timestamp_to_timeval(&stamp, &time, nullptr);
  (void)tally_clock_select("nobody");
  (void)tally_clock_start_upkeep(10);
  tally_clock_stop_upkeep();
  EXPECT_EQ(errno, 77);
}

}  // namespace
