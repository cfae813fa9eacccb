#include "feeders/clock/timeline.h"

#include <gtest/gtest.h>

#include "feeders/clock/owned_lock.h"

namespace tallyfs {
namespace {

// By a reader that was preempted since the clock has gone over to CLOCK_MONOTONIC.
TEST(TimelineTest, TheLineOfMonotonicIsRightAtAnyDistance) {
  Timeline timeline;
  std::uint64_t cycles = 1000;
  const auto read = [&] { return cycles; };
  timeline.lay({.cycles = 1000, .ns = 5000, .rate = 1ULL << 32, .span = UINT64_MAX},
               Timeline::Counter::kOther, read, [] {});
  for (const std::uint64_t seconds : {1ULL, 5ULL, 3600ULL, 100'000'000ULL}) {
    cycles = 1000 + seconds * 1'000'000'000;
    EXPECT_EQ(timeline.read(this_thread(), read), 5000 + seconds * 1'000'000'000);
  }
}

TEST(TimelineTest, ALineWithoutLengthTellsNothing) {
  Timeline timeline;
  const auto read = [] { return std::uint64_t{1000}; };
  timeline.lay({.cycles = 1000, .ns = 5000, .rate = 1ULL << 32, .span = 0},
               Timeline::Counter::kOther, read, [] {});
  EXPECT_FALSE(timeline.read(this_thread(), read));
  EXPECT_EQ(timeline.read_meanwhile(5500, read), 5500u);
}

}  // namespace
}  // namespace tallyfs
