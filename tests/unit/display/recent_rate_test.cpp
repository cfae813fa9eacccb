#include "tools/display/recent_rate.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tallyfs::view {
namespace {

TEST(RecentRateTest, IsUnknownAtTheFirstSnapshotAndAfterSamplesThatFell) {
  RecentRate rate;
  rate.take(10, 1);
  EXPECT_FALSE(rate.last());
  rate.take(30, 2);
  EXPECT_EQ(rate.last(), 10.0);
  EXPECT_EQ(rate.smooth(), 10.0);
  rate.take(5, 1);
  EXPECT_FALSE(rate.last());
  EXPECT_FALSE(rate.smooth());
  rate.take(6, 1);
  EXPECT_EQ(rate.smooth(), 1.0);
  rate.take(7, 0);
  EXPECT_FALSE(rate.last());
}

TEST(RecentRateTest, IsSmoothedOverThreeSeconds) {
  RecentRate rate;
  rate.take(0, 0);
  rate.take(90, 1);
  rate.take(90, 1);
  EXPECT_EQ(rate.last(), 0.0);
  EXPECT_NEAR(*rate.smooth(), 90 * std::exp(-1 / 3.0), 1e-9);
}

TEST(RecentRateTest, KeepsAMinute) {
  RecentRate rate;
  rate.take(0, 0);
  for (std::uint64_t i = 1; i <= RecentRate::kMinute + 5; ++i) rate.take(i * i, 1);
  EXPECT_EQ(rate.minute().size(), RecentRate::kMinute);
  EXPECT_EQ(rate.minute().front(), 36 - 25);
  EXPECT_EQ(rate.of_minute(), 65 * 65 - 5 * 5);
}

TEST(RecentRateTest, AMinuteOfRestHasNone) {
  RecentRate rate;
  rate.take(0, 0);
  EXPECT_EQ(rate.of_minute(), 0.0);
  rate.take(9, 1);
  for (std::size_t i = 1; i < RecentRate::kMinute; ++i) rate.take(9, 1);
  EXPECT_EQ(rate.of_minute(), 9.0);
  rate.take(9, 1);
  EXPECT_EQ(rate.of_minute(), 0.0);
  rate.take(12, 1);
  EXPECT_EQ(rate.of_minute(), 3.0);
}

}  // namespace
}  // namespace tallyfs::view
