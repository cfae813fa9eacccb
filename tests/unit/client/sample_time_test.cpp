#include "feeders/client/sample_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <string>
#include <thread>

namespace tallyfs {
namespace {

struct Source {
  const char* name;
  SampleTime::Choose choose;
};

class SampleTimeTest : public testing::TestWithParam<Source> {
 protected:
  SampleTime time_{GetParam().choose};
};

TEST_P(SampleTimeTest, ASampleHasTheTimeAtWhichItWasTaken) {
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t before = monotonic_ns();
    const std::uint64_t cycles = time_.cycles();
    const std::int64_t after = monotonic_ns();
    const std::int64_t ns = time_.times().to_ns(cycles);
    ASSERT_GE(ns, before - 1000);
    ASSERT_LE(ns, after + 1000);
  }
}

TEST_P(SampleTimeTest, TimesDoNotGoBackOnOneLine) {
  std::array<std::uint64_t, 1000> cycles;
  for (auto& each : cycles) each = time_.cycles();
  const SampleTimes times = time_.times();
  std::int64_t last = INT64_MIN;
  for (const auto each : cycles) {
    const std::int64_t ns = times.to_ns(each);
    ASSERT_GE(ns, last);
    last = ns;
  }
  EXPECT_LE(last, times.now_ns + 1000);
}

TEST_P(SampleTimeTest, KnowsTheTimesOfSamplesThatHaveWaited) {
  for (int i = 0; i < 100; ++i) {
    const std::int64_t before = monotonic_ns();
    const std::uint64_t cycles = time_.cycles();
    const std::int64_t after = monotonic_ns();
    while (monotonic_ns() < after + 1'000'000) (void)time_.times();
    const std::int64_t ns = time_.times().to_ns(cycles);
    ASSERT_GE(ns, before - 1000);
    ASSERT_LE(ns, after + 1000);
  }
}

TEST_P(SampleTimeTest, ConcurrentThreadsMayConvertWhileOneChecks) {
  std::atomic<bool> done{false};
  std::atomic<bool> right{true};
  std::thread other([&] {
    while (!done) {
      const SampleTimes times = time_.times();
      if (times.to_ns(time_.cycles()) < times.now_ns - 1000) right = false;
    }
  });
  for (int i = 0; i < 1000; ++i) time_.check();
  done = true;
  other.join();
  EXPECT_TRUE(right);
}

INSTANTIATE_TEST_SUITE_P(Sources, SampleTimeTest,
                         testing::Values(Source{"Best", &best_driver},
                                         Source{"Monotonic", [] { return &kMonotonicDriver; }}),
                         [](const auto& source) { return std::string(source.param.name); });

}  // namespace
}  // namespace tallyfs
