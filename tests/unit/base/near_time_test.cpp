#include "core/base/near_time.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tallyfs {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(NearTimeTest, WhatHasHappenedWasAtMostADayAgo) {
  const nanoseconds now = 100h;
  const auto now_ns = static_cast<std::uint64_t>(now.count());
  const struct {
    nanoseconds said, counts;
  } cases[] = {{nanoseconds(kMin), 76h},
               {-1ns, 76h},
               {0ns, 76h},
               {76h - 1ns, 76h},
               {76h, 76h},
               {76h + 1ns, 76h + 1ns},
               {now - 1ns, now - 1ns},
               {now, now},
               {now + 1ns, now},
               {124h, now},
               {nanoseconds(kMax), now}};
  for (const auto& each : cases) {
    EXPECT_EQ(clamped_past(each.said, now), each.counts) << each.said.count();
    if (each.said < 0ns) continue;
    const auto said = static_cast<std::uint64_t>(each.said.count());
    EXPECT_EQ(clamped_past(said, now_ns), static_cast<std::uint64_t>(each.counts.count())) << said;
  }
  EXPECT_EQ(clamped_past(UINT64_MAX, now_ns), now_ns);
  EXPECT_EQ(clamped_past(std::uint64_t{1} << 63, now_ns), now_ns);
}

TEST(NearTimeTest, NothingHasHappenedBeforeTheClockBegan) {
  for (const nanoseconds now : {0ns, 1ns, nanoseconds(10s), nanoseconds(24h)}) {
    EXPECT_EQ(clamped_past(nanoseconds(kMin), now), 0ns);
    EXPECT_EQ(clamped_past(-1ns, now), 0ns);
    EXPECT_EQ(clamped_past(0ns, now), 0ns);
    EXPECT_EQ(clamped_past(nanoseconds(kMax), now), now);
    const auto now_ns = static_cast<std::uint64_t>(now.count());
    EXPECT_EQ(clamped_past(UINT64_MAX, now_ns), now_ns);
  }
}

TEST(NearTimeTest, WhatIsToComeIsAtMostADayAhead) {
  const Timestamp now{.monotonic = 100h};
  EXPECT_EQ(clamped_near(nanoseconds(kMin), now), 76h);
  EXPECT_EQ(clamped_near(101h, now), 101h);
  EXPECT_EQ(clamped_near(nanoseconds(kMax), now), 124h);
}

}  // namespace
}  // namespace tallyfs
