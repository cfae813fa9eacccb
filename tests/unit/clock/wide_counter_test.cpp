#include "feeders/clock/wide_counter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fake_world.h"
#include "tests/unit/sanitized.h"

namespace tallyfs {
namespace {

// A counter that has counted `truth` since time began, of which the driver shows the low bits.
struct Truth final : Reference {
  std::atomic<std::uint64_t> truth{0};
  std::int64_t ns_per_cycle = 1000;
  std::uint64_t behind = 0;  // by so many steps what is read is old

  static std::uint64_t read(void* self) {
    const auto* const world = static_cast<const Truth*>(self);
    return world->truth.load() - world->behind;
  }

  std::int64_t ns() const { return static_cast<std::int64_t>(truth.load()) * ns_per_cycle; }
  std::int64_t monotonic_ns() const override { return ns(); }
  std::int64_t realtime_ns() const override { return ns(); }
  std::int64_t boottime_ns() const override { return ns(); }
  std::int64_t coarse_ns() const override { return ns() / coarse_step * coarse_step; }
  std::int64_t coarse_step_ns() const override { return coarse_step; }
  std::int64_t coarse_step = 1;

  Driver driver(unsigned bits) {
    return {.kind = Driver::Kind::kOther,
            .name = "fake",
            .width_bits = bits,
            .rate_hz = static_cast<std::uint64_t>(1'000'000'000 / ns_per_cycle),
            .read = &Truth::read,
            .context = this};
  }
};

std::uint64_t seed() {
  const char* const given = std::getenv("TALLY_SEED");
  const std::uint64_t seed = given ? std::stoull(given) : std::random_device()();
  std::printf("TALLY_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

class WideCounterTest : public testing::TestWithParam<unsigned> {};

TEST_P(WideCounterTest, IsExactOverGapsUpToThreeQuartersOfTheWrap) {
  Truth world;
  WideCounter wide;
  const std::uint64_t wrap = std::uint64_t{1} << GetParam();
  wide.begin(world.driver(GetParam()), world);
  std::mt19937_64 random(seed());
  for (int i = 0; i < 1'000'000; ++i) {
    world.truth += random() % (wrap / 4 * 3);
    ASSERT_EQ(wide.read(), world.truth.load());
  }
  EXPECT_EQ(wide.gaps(), 0u);
}

TEST_P(WideCounterTest, BeginsOneTickBeforeTheWrap) {
  Truth world;
  const std::uint64_t wrap = std::uint64_t{1} << GetParam();
  world.truth = wrap - 1;
  WideCounter wide;
  wide.begin(world.driver(GetParam()), world);
  EXPECT_EQ(wide.read(), wrap - 1);
  ++world.truth;
  EXPECT_EQ(wide.read(), wrap);
  world.truth += wrap / 2;
  EXPECT_EQ(wide.read(), wrap + wrap / 2);
}

// Longer gaps are bridged by CLOCK_MONOTONIC, exactly, and counted.
TEST_P(WideCounterTest, ReportsAGapThatIsTooLong) {
  Truth world;
  const std::uint64_t wrap = std::uint64_t{1} << GetParam();
  WideCounter wide;
  wide.begin(world.driver(GetParam()), world);
  (void)wide.read();
  world.truth += wrap / 8 * 7;
  EXPECT_EQ(wide.read(), world.truth.load());
  EXPECT_EQ(wide.gaps(), 1u);
  world.truth += wrap + 3;
  EXPECT_EQ(wide.read(), world.truth.load());
  world.truth += 7 * wrap + wrap / 2;
  EXPECT_EQ(wide.read(), world.truth.load());
  EXPECT_EQ(wide.gaps(), 3u);
  EXPECT_EQ(wide.doubts(), 0u);
}

TEST_P(WideCounterTest, DoubtsWhatTheReferenceCannotTellForCertain) {
  Truth world;
  const std::uint64_t wrap = std::uint64_t{1} << GetParam();
  WideCounter wide;
  wide.begin(world.driver(GetParam()), world);
  const std::uint64_t before = wide.read();
  world.truth += 1000 * wrap + 5;
  EXPECT_GT(wide.read(), before);
  EXPECT_EQ(wide.gaps(), 1u);
  EXPECT_EQ(wide.doubts(), 1u);
}

TEST_P(WideCounterTest, ACoarseReferenceReportsNothingThatWasNoGap) {
  Truth world;
  const std::uint64_t wrap = std::uint64_t{1} << GetParam();
  world.coarse_step = static_cast<std::int64_t>(wrap) * world.ns_per_cycle / 16;
  WideCounter wide;
  wide.begin(world.driver(GetParam()), world);
  std::mt19937_64 random(seed());
  for (int i = 0; i < 100'000; ++i) {
    world.truth += random() % (wrap / 4 * 3);
    ASSERT_EQ(wide.read(), world.truth.load());
  }
  EXPECT_EQ(wide.gaps(), 0u);
  world.truth += wrap + wrap / 16;
  EXPECT_EQ(wide.read(), world.truth.load());
  EXPECT_EQ(wide.gaps(), 1u);
}

// As a counter's instruction does that is carried out early: by up to three steps, so that the
// distance to what was read before is nearly a whole wrap.
TEST_P(WideCounterTest, ASlightlyOldValueIsNotAWrap) {
  Truth world;
  world.truth = 100;
  WideCounter wide;
  wide.begin(world.driver(GetParam()), world);
  const std::uint64_t wrap = std::uint64_t{1} << GetParam();
  std::mt19937_64 random(seed());
  std::uint64_t last = 0;
  for (int i = 0; i < 100'000; ++i) {
    world.truth += random() % 4 == 0 ? random() % (wrap / 4 * 3 - 3) : random() % 3;
    world.behind = random() % 4;
    const std::uint64_t read = wide.read();
    ASSERT_GE(read, last);
    ASSERT_LE(read, world.truth.load());
    ASSERT_LE(world.truth.load() - read, 3u);
    last = read;
  }
  EXPECT_EQ(wide.gaps(), 0u);
}

// Four threads read. A thread that finds a read since the counter was last moved moves it on, so
// that no gap is too long. Each reading lies between the truth before and after.
TEST_P(WideCounterTest, ConcurrentReadersSeeEveryCountOnce) {
#if TALLY_SANITIZED || defined(__aarch64__)
  constexpr int kReads = 100'000;  // a thread; on ARM64 this runs in an emulator
#else
  constexpr int kReads = 2'600'000;  // by four threads, more than 10 million for each width
#endif
  Truth world;
  const std::uint64_t wrap = std::uint64_t{1} << GetParam();
  WideCounter wide;
  wide.begin(world.driver(GetParam()), world);
  std::mutex moving;
  std::atomic<std::uint64_t> moved_to{0};
  std::atomic<int> faults{0};
  const auto first = seed();
  const auto work = [&](std::uint64_t number) {
    std::mt19937_64 random(first + number);
    std::uint64_t last = 0;
    for (int i = 0; i < kReads; ++i) {
      const std::uint64_t before = world.truth.load();
      const std::uint64_t read = wide.read();
      const std::uint64_t after = world.truth.load();
      if (read < before || read > after || read < last) ++faults;
      last = read;
      if (read < moved_to.load()) continue;
      const std::unique_lock lock(moving, std::try_to_lock);
      if (!lock || read < moved_to.load()) continue;
      moved_to = world.truth.load() + random() % (wrap / 4 * 3);
      world.truth.store(moved_to.load());
    }
  };
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 4; ++i) threads.emplace_back(work, i);
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(faults.load(), 0);
  EXPECT_EQ(wide.read(), world.truth.load());
  EXPECT_EQ(wide.gaps(), 0u);
  EXPECT_GT(world.truth.load(), 10 * wrap);
}

INSTANTIATE_TEST_SUITE_P(Bits, WideCounterTest, testing::Values(12u, 16u, 32u),
                         [](const auto& bits) { return std::to_string(bits.param); });

}  // namespace
}  // namespace tallyfs
