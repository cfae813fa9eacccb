// Whose rings are read in which order, and for how long.
#include "feeders/intake/fair_share/ring_schedule.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace tallyfs {
namespace {

using namespace std::chrono_literals;
using Rings = RingSchedule::Rings;

constexpr uid_t kDaemonsUid = 500;
constexpr uid_t kUser = 1000;

class NoQueue final : public HeldSenders {
 public:
  void know(SenderKey) override {}
  void forget(SenderKey) override {}
  void hold(SenderKey) override {}
  void let_go(SenderKey) override {}
};

class RingScheduleTest : public testing::Test {
 protected:
  static SenderKey key_of(uid_t uid, pid_t pid) { return {Ownership(kDaemonsUid), uid, pid}; }
  static Rings rings(std::uint64_t lane, uid_t uid, pid_t pid, std::uint64_t words) {
    return {.lane = lane, .sender = key_of(uid, pid), .words = words};
  }
  // The lanes that are read, if each takes so long and is read wholly.
  std::vector<std::uint64_t> read_all(RingSchedule& schedule, std::chrono::nanoseconds each = 0ns) {
    std::vector<std::uint64_t> lanes;
    while (const auto step = schedule.next(now_)) {
      lanes.push_back(step->rings.lane);
      now_ += each;
      schedule.finish(*step, {.records = 1, .spent = each}, now_);
    }
    return lanes;
  }
  RingSchedule schedule(RingSchedule::Limits limits, std::vector<Rings> all) {
    return {accounts_, budgets_, limits, std::move(all), now_};
  }
  RingSchedule::Limits reader() const {
    return {.deadline = now_ + 1s, .by = RingSchedule::By::kReader};
  }

  static constexpr std::uint64_t kLong = RingSchedule::kFewWords + 2;
  NoQueue held_;
  Accounts accounts_{held_};
  Budgets budgets_;
  std::chrono::nanoseconds now_{1h};
};

TEST_F(RingScheduleTest, RingsOfHeldSendersComeLastAndOnlyWithinTheirTime) {
  accounts_.charge(key_of(kUser, 7), Cost::kAll, 1s, now_);
  const std::vector<Rings> all{rings(1, kUser, 8, 2), rings(2, 0, 9, 2), rings(3, 0, 10, 2)};
  auto without = schedule({.deadline = now_ + 1s}, all);
  EXPECT_EQ(read_all(without), (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(without.outcome(), RingSchedule::Outcome::kLeft);
  auto with = schedule({.deadline = now_ + 1s, .held_until = now_ + 1s}, all);
  EXPECT_EQ(read_all(with), (std::vector<std::uint64_t>{2, 3, 1}));
  EXPECT_EQ(with.outcome(), RingSchedule::Outcome::kDone);
}

TEST_F(RingScheduleTest, AReaderReadsLongOnesAfterAllOthersTheShortestFirst) {
  const std::vector<Rings> all{rings(1, 0, 7, 2 * kLong), rings(2, 0, 8, kLong), rings(3, 0, 9, 2)};
  auto by_reader = schedule(reader(), all);
  EXPECT_EQ(read_all(by_reader), (std::vector<std::uint64_t>{3, 2, 1}));
  auto by_loop = schedule({.deadline = now_ + 1s}, all);
  EXPECT_EQ(read_all(by_loop), (std::vector<std::uint64_t>{1, 2, 3}));
}

// Of a uid that is neither root's nor the daemon's all processes are one.
TEST_F(RingScheduleTest, ALongSenderMayHaveItsRecordsInManyRings) {
  const std::vector<Rings> all{rings(1, kUser, 7, kLong / 2 + 1), rings(2, kUser, 8, kLong / 2),
                               rings(3, 0, 9, kLong / 2), rings(4, 0, 10, kLong / 2)};
  auto by_reader = schedule(reader(), all);
  EXPECT_EQ(read_all(by_reader), (std::vector<std::uint64_t>{3, 4, 1, 2}));
}

TEST_F(RingScheduleTest, ReadersSpendABudgetOnLongRingsOfASenderAndOneOnThoseOfAll) {
  std::chrono::nanoseconds spent{0};
  std::set<std::uint64_t> read;
  for (pid_t pid = 1; pid <= 8; ++pid) {
    for (int look = 0; look < 8; ++look) {
      const auto begun = now_;
      auto by_reader = schedule(reader(), {rings(static_cast<std::uint64_t>(pid), 0, pid, kLong)});
      for (const std::uint64_t lane : read_all(by_reader, 5ms)) read.insert(lane);
      spent += now_ - begun;
    }
  }
  EXPECT_GE(spent, Budgets::kLongRingsMax);
  EXPECT_LE(spent, 2 * Budgets::kLongRingsMax);
  EXPECT_GE(read.size(), 2u);  // one sender has no more than its own
}

TEST_F(RingScheduleTest, AfterACutNoOtherIsReadAndTheNextLookBeginsThere) {
  auto cut = schedule({.deadline = now_}, {rings(1, 0, 7, 2), rings(2, 0, 8, 2)});
  const auto step = cut.next(now_);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->rings.lane, 1u);  // some are read, however late it is
  cut.finish(*step, {.is_all = false, .records = 1}, now_);
  EXPECT_FALSE(cut.next(now_));
  EXPECT_EQ(cut.outcome(), RingSchedule::Outcome::kCut);
  EXPECT_EQ(cut.cuts().first_turn, 1u);
}

// A and H have more than a look reads, H is held, and B is neither.
TEST_F(RingScheduleTest, EachTurnGetsOnByItself) {
  constexpr std::uint64_t kA = 1, kB = 2, kH = 3, kI = 4;
  accounts_.charge(key_of(kUser, 9), Cost::kAll, 1s, now_);
  std::vector<std::uint64_t> lanes{kA, kB, kH, kI}, read;
  for (int look = 0; look < 4; ++look) {
    std::vector<Rings> all;
    for (const std::uint64_t each : lanes) {
      all.push_back(each >= kH ? rings(each, kUser, 9, 100) : rings(each, 0, pid_t(each), 100));
    }
    auto looks = schedule({.deadline = now_ + 1ms, .held_until = now_ + 2ms}, std::move(all));
    while (const auto step = looks.next(now_)) {
      read.push_back(step->rings.lane);
      const bool is_all = step->rings.lane == kB;
      now_ = is_all ? now_ : step->deadline;
      looks.finish(*step, {.is_all = is_all, .records = 1}, now_);
    }
    looks.cuts().order(lanes);
  }
  EXPECT_EQ(read, (std::vector<std::uint64_t>{kA, kH, kB, kA, kI, kB, kA, kH, kB, kA, kI}));
}

TEST_F(RingScheduleTest, ASenderIsChargedForItsRings) {
  auto by_loop = schedule({.deadline = now_ + 1s}, {rings(1, kUser, 7, 2)});
  const auto step = by_loop.next(now_);
  ASSERT_TRUE(step);
  by_loop.finish(*step, {.records = 100'000, .spent = 2 * Accounts::kAllowance}, now_);
  EXPECT_TRUE(accounts_.holds(key_of(kUser, 8), now_));
}

}  // namespace
}  // namespace tallyfs
