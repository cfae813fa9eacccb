#include "feeders/clock/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tallyfs {
namespace {

class HistoryTest : public testing::Test {
 protected:
  std::array<Anchor, 8> room_{};
  History history_{room_};
};

TEST_F(HistoryTest, InterpolatesBetweenTwoAnchors) {
  history_.add({.cycles = 1000, .ns = kSecond, .epoch = 1});
  history_.add({.cycles = 3000, .ns = 2 * kSecond, .epoch = 1});
  EXPECT_EQ(history_.time_of(1000, 1)->ns, kSecond);
  EXPECT_EQ(history_.time_of(1500, 1)->ns, kSecond + kSecond / 4);
  EXPECT_EQ(history_.time_of(3000, 1)->ns, 2 * kSecond);
}

TEST_F(HistoryTest, KnowsNothingBeforeTheFirstAndBehindTheLastAnchor) {
  EXPECT_FALSE(history_.time_of(0, 1));
  history_.add({.cycles = 1000, .ns = kSecond, .epoch = 1});
  history_.add({.cycles = 3000, .ns = 2 * kSecond, .epoch = 1});
  EXPECT_FALSE(history_.time_of(999, 1));
  EXPECT_FALSE(history_.time_of(3001, 1));
}

TEST_F(HistoryTest, DoesNotInterpolateAcrossEpochs) {
  history_.add({.cycles = 1000, .ns = kSecond, .epoch = 1});
  history_.add({.cycles = 2000, .ns = 2 * kSecond, .epoch = 1});
  history_.keep_newest();
  history_.add({.cycles = 500, .ns = 3 * kSecond, .epoch = 2});
  history_.add({.cycles = 900, .ns = 4 * kSecond, .epoch = 2});
  EXPECT_EQ(history_.time_of(1500, 1)->ns, kSecond * 3 / 2);
  EXPECT_FALSE(history_.time_of(2500, 1));
  EXPECT_FALSE(history_.time_of(499, 2));
  EXPECT_EQ(history_.time_of(700, 2)->ns, kSecond * 7 / 2);
}

TEST_F(HistoryTest, TheNewestAnchorGivesWayUnlessThatLeavesAGap) {
  history_.add({.cycles = 0, .ns = 0, .epoch = 1});
  for (std::int64_t ms = 100; ms <= 2000; ms += 100) {
    history_.add({.cycles = static_cast<std::uint64_t>(ms), .ns = ms * 1'000'000, .epoch = 1});
  }
  // 0, 0.8, 1.6, 2.0 s
  EXPECT_EQ(history_.size(), 4u);
  EXPECT_EQ(history_.at(1).cycles, 800u);
  EXPECT_EQ(history_.newest()->cycles, 2000u);
}

TEST_F(HistoryTest, TheOldestGoWhenItIsFull) {
  for (std::uint64_t i = 0; i < 20; ++i) {
    history_.add({.cycles = i * 1000, .ns = static_cast<std::int64_t>(i) * kSecond, .epoch = 1});
  }
  EXPECT_EQ(history_.size(), 8u);
  EXPECT_FALSE(history_.time_of(11'999, 1));
  EXPECT_EQ(history_.time_of(12'500, 1)->ns, 12 * kSecond + kSecond / 2);
}

// A slew of 500 ppm that begins anywhere between two anchors: how far off the answer is, and what
// it says.
TEST_F(HistoryTest, TheErrorBoundHoldsWhereverARateChanges) {
  constexpr double kSlew = 500e-6;
  for (int with_next = 0; with_next < 2; ++with_next) {
    for (double kink = 0.05; kink < 1; kink += 0.1) {
      const auto truth = [&](double s) { return s + (s > 1 + kink ? (s - 1 - kink) * kSlew : 0); };
      History history(room_);
      for (int s = 0; s <= 2 + with_next; ++s) {
        history.add({.cycles = static_cast<std::uint64_t>(s) * 1'000'000'000,
                     .ns = std::llround(truth(s) * 1e9),
                     .epoch = 1});
      }
      for (double s = 1.01; s < 2; s += 0.01) {
        const auto time = *history.time_of(static_cast<std::uint64_t>(std::llround(s * 1e9)), 1);
        const double off = std::abs(static_cast<double>(time.ns) - truth(s) * 1e9);
        ASSERT_LE(off, static_cast<double>(time.error_ns)) << kink << ' ' << s;
        ASSERT_LE(time.error_ns, 500'000);
      }
    }
  }
}

// Two changes within one interval, with what is behind it known and unknown: a slew that begins and
// ends, one that turns round, and a counter that jumps forward or stands still for a while.
TEST_F(HistoryTest, TheErrorBoundHoldsWhereARateChangesTwice) {
  struct Way {
    double first;   // ns per cycle between the changes
    double second;  // and behind them
  };
  for (const Way way : {Way{1 + 500e-6, 1}, Way{1 + 500e-6, 1 - 300e-6}, Way{1e-6, 1}, Way{4, 1}}) {
    for (double from = 0.05; from < 0.9; from += 0.1) {
      for (double to = from + 0.1; to < 1; to += 0.1) {
        const auto truth = [&](double s) {
          const double in = std::clamp(s - 1 - from, 0.0, to - from);
          const double behind = std::max(0.0, s - 1 - to);
          return s + in * (way.first - 1) + behind * (way.second - 1);
        };
        for (int intervals : {2, 3}) {
          const bool is_slew = std::abs(way.first - 1) < 0.001;
          if (!is_slew && intervals == 2) continue;
          History history(room_);
          for (int s = 0; s <= intervals; ++s) {
            history.add({.cycles = static_cast<std::uint64_t>(s) * 1'000'000'000,
                         .ns = std::llround(truth(s) * 1e9),
                         .epoch = 1});
          }
          for (double s = 1.01; s < 2; s += 0.01) {
            const auto time =
                *history.time_of(static_cast<std::uint64_t>(std::llround(s * 1e9)), 1);
            const double off = std::abs(static_cast<double>(time.ns) - truth(s) * 1e9);
            ASSERT_LE(off, static_cast<double>(time.error_ns) + 1)
                << way.first << ' ' << from << ' ' << to << ' ' << s << ' ' << intervals;
          }
        }
      }
    }
  }
}

TEST_F(HistoryTest, ReachesBackWithinTheEpoch) {
  EXPECT_EQ(history_.reach_ns(), 0);
  history_.add({.cycles = 1000, .ns = kSecond, .epoch = 1});
  history_.add({.cycles = 2000, .ns = 3 * kSecond, .epoch = 1});
  EXPECT_EQ(history_.reach_ns(), 2 * kSecond);
  history_.keep_newest();
  history_.add({.cycles = 10, .ns = 9 * kSecond, .epoch = 2});
  EXPECT_EQ(history_.reach_ns(), 0);
}

TEST_F(HistoryTest, AnEvenRateLeavesOnlyTheErrorOfTheAnchors) {
  for (std::uint64_t i = 0; i < 4; ++i) {
    history_.add({.cycles = i * 2'000'000'000,
                  .ns = static_cast<std::int64_t>(i) * kSecond,
                  .epoch = 1,
                  .error_ns = 20});
  }
  EXPECT_LE(history_.time_of(3'000'000'000, 1)->error_ns, 22);
}

}  // namespace
}  // namespace tallyfs
