// How much of a uid's cells opens read that follow each other.
#include "cells_fixture.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

namespace tallyfs::statistics {
namespace {

class CreditTest : public testing::Test {
 protected:
  std::shared_ptr<CellCredit> credit_of_a_uid() const {
    return std::make_shared<CellCredit>(clock(), of_all_);
  }
  const FakeClock& clock() const { return fixture_.fixture.clock; }
  std::chrono::nanoseconds now() const { return clock().now().monotonic; }
  // Of the first statistic. Each file costs a hundred.
  std::shared_ptr<FakeSource> bind(uid_t uid, std::uint32_t ids) {
    const auto source = std::make_shared<FakeSource>(uid, credit_of_a_uid());
    source->cells = 99;
    for (std::uint32_t id = 0; id < ids; ++id) fixture_.bind(source, 0, id);
    return source;
  }
  // How many cells an open of the interface reads.
  std::size_t open(const std::shared_ptr<FakeSource>& of) {
    const std::size_t before = of->reads;
    fixture_.fixture.interface->version(clock().now());
    return (of->reads - before) * 100;
  }
  void pass(std::chrono::nanoseconds time) { fixture_.fixture.clock.advance(time); }

  static constexpr std::size_t kMost = CellCredit::kOfUidMax;
  CellsFixture fixture_{2};
  const std::shared_ptr<CellCredit::OfAll> of_all_ = std::make_shared<CellCredit::OfAll>();
};

TEST_F(CreditTest, OpensThatFollowEachOtherReadWhatHasComeBack) {
  const auto many = bind(kUid, 400);
  EXPECT_EQ(open(many), 40'000u);
  EXPECT_EQ(open(many), 40'000u);
  EXPECT_EQ(open(many), kMost - 80'000);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(open(many), 0u);
  pass(CellCredit::kRefill / 10);
  EXPECT_EQ(open(many), kMost / 10);
  EXPECT_EQ(open(many), 0u);
  pass(std::chrono::hours(1));
  EXPECT_EQ(open(many), 10'000u);  // the rest of the look
  EXPECT_EQ(open(many), 40'000u);
}

// Until then the last whole look is shown.
TEST_F(CreditTest, AllIsShownWithinTheTimeInWhichItComesBack) {
  const auto many = bind(kUid, 900);
  for (int i = 0; i < 10; ++i) open(many);
  many->add(fixture_.shapes[0], 1);
  EXPECT_EQ(fixture_.data(), 0u);
  for (int i = 0; i < 20; ++i) {
    pass(CellCredit::kRefill / 10);
    open(many);
  }
  EXPECT_EQ(fixture_.data(), 900u);
}

TEST_F(CreditTest, UidsTogetherHaveABound) {
  for (int i = 0; i < 10; ++i) credit_of_a_uid()->spend(CellCredit::kOfAllMax / 10, now());
  const auto many = bind(kUid, 400);
  EXPECT_EQ(open(many), CellCredit::kLittle);
  EXPECT_EQ(open(many), 0u);
}

TEST_F(CreditTest, AUidThatNeedsLittleHasItWhateverOthersNeed) {
  const auto little = bind(kStranger, 10);
  for (int i = 0; i < 100; ++i) {
    for (int uid = 0; uid < 3; ++uid) credit_of_a_uid()->spend(CellCredit::kOfAllMax, now());
    EXPECT_EQ(open(little), 1000u);
    pass(CellCredit::kRefill / 10);
  }
}

TEST_F(CreditTest, LooksForPlacesNeedItToo) {
  constexpr std::size_t kLooks = 1000;
  const CellParty party{kUid, CellRank::kOwner, credit_of_a_uid()};
  std::size_t looks = 0;
  for (; CellBudget().has_looks_for(party); looks += kLooks) {
    CellBudget().charge_looks(party, kLooks);
  }
  EXPECT_GE(looks * CellBudget::kCellsOfALook, kMost);
  EXPECT_LE(looks * CellBudget::kCellsOfALook, kMost + 2 * CellCredit::kLittle);
  EXPECT_TRUE(CellBudget().has_looks_for({kStranger, CellRank::kOther, credit_of_a_uid()}));
}

// As pages that have to be fetched first. An open reads as many as it could have read at the pace
// of others, a sixteenth of them at least.
TEST_F(CreditTest, CellsThatTakeLongerCountForMore) {
  const auto slow = bind(kUid, 400);
  slow->time = CellBudget::Reading::kTimeOfACell * 500;
  slow->clock = &fixture_.fixture.clock;
  const std::size_t read = open(slow);
  EXPECT_GE(read, kMost / 5 - 1000);
  EXPECT_LE(read, kMost / 5 + 1000);
  EXPECT_GT(slow->not_read, 0u);
  EXPECT_LE(open(slow), 100u);
  pass(std::chrono::hours(1));
  slow->time = std::chrono::seconds(1);
  EXPECT_GE(open(slow), kMost / CellBudget::Reading::kSlowerMax);
}

// No open waits for the thousand of an id.
TEST_F(CreditTest, CellsOfOneIdAreCutAndContinued) {
  const auto slow = bind(kUid, 1);
  slow->cells = 1000;
  slow->cells_at_once = CellSource::kCellsAtOnce;
  slow->time = std::chrono::milliseconds(2);
  slow->clock = &fixture_.fixture.clock;
  slow->add(fixture_.shapes[0], 7);
  credit_of_a_uid()->spend(CellCredit::kOfAllMax, now());
  fixture_.fixture.interface->version(clock().now());
  constexpr auto kCost = CellBudget::Reading::kSlowerMax * CellSource::kCellsAtOnce;
  EXPECT_EQ(slow->reads, CellCredit::kLittle / kCost + 1);
  EXPECT_LT(slow->reads, 4u);
  EXPECT_EQ(fixture_.data(), 0u) << "a part is not shown";
  for (int i = 0; i < 3; ++i) {
    pass(CellCredit::kRefill);
    fixture_.fixture.interface->version(clock().now());
  }
  EXPECT_EQ(fixture_.data(), 7u);
}

// A user namespace has as many as its root likes.
TEST_F(CreditTest, UidsThatNeedLittleHaveABoundTogetherAndTheirTurn) {
  constexpr std::size_t kUids = 100;
  std::vector<std::shared_ptr<FakeSource>> all;
  for (std::size_t i = 0; i < kUids; ++i) {
    all.push_back(bind(kStranger + static_cast<uid_t>(i), 10));
    all.back()->add(fixture_.shapes[0], 1);
  }
  const auto reads = [&all] {
    std::size_t sum = 0;
    for (const auto& each : all) sum += each->reads * 100;
    return sum;
  };
  std::size_t before = 0;
  for (int i = 0; i < 100; ++i) {
    credit_of_a_uid()->spend(CellCredit::kOfAllMax, now());
    fixture_.fixture.interface->version(clock().now());
  }
  EXPECT_LE(reads() - before, CellCredit::kLittleOfAllMax + CellCredit::kLittle);
  for (int i = 0; i < 40; ++i) {
    pass(CellCredit::kRefill / 10);
    before = reads();
    fixture_.fixture.interface->version(clock().now());
    EXPECT_LE(reads() - before, CellCredit::kLittleOfAllMax / 5);
  }
  EXPECT_EQ(fixture_.data(), kUids * 10);
}

// A command needs no credit. Its time is bounded all the same.
TEST_F(CreditTest, ACommandCutsCellsThatTakeLonger) {
  const auto slow = bind(kUid, 400);
  slow->time = CellBudget::Reading::kTimeOfACell * 1600;
  slow->clock = &fixture_.fixture.clock;
  EXPECT_EQ(fixture_.fixture.define("name=s0 data=reset"), "");
  EXPECT_LE(slow->reads, CellBudget::kCellsMax / 1600 + 3);
  EXPECT_GT(slow->not_read, 0u);
}

// Its sender is charged.
TEST_F(CreditTest, ACommandNeedsNone) {
  const auto many = bind(kUid, 400);
  for (int i = 0; i < 4; ++i) open(many);
  const std::size_t before = many->reads;
  EXPECT_EQ(fixture_.fixture.define("name=s0 data=reset"), "");
  EXPECT_GE(many->reads - before, 400u);
}

}  // namespace
}  // namespace tallyfs::statistics
