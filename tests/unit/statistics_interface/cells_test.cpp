// What an interface makes of feeders' cells.
// Longer than most: all cases stand on the one source of cells that is played.
#include "cells_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "tests/unit/sanitized.h"

namespace tallyfs::statistics {
namespace {

bool has_cells(CellBudget budget, const CellParty& party) {
  return CellBudget::Reading(budget, party).goes_on();
}

void charge(CellBudget& budget, const CellParty& party, std::size_t cost) {
  CellBudget::Reading reading(budget, party);
  reading.add(cost);
  reading.end();
}

TEST(CellsTest, SamplesOfAFeederThatEndsBesideOneThatGoesOnCountOnce) {
  CellsFixture fixture;
  const auto lasting = fixture.bind(kUid);
  lasting->grows_by = 10;
  std::uint64_t of_ended = 0;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    const auto other = fixture.bind(kUid);
    other->add(fixture.shapes[0], i);
    if (i % 3 == 0) fixture.samples();
    other->add(fixture.shapes[0], 1);
    fixture.end(other);
    of_ended += i + 1;
  }
  lasting->grows_by = 0;
  EXPECT_EQ(fixture.samples(), lasting->total + of_ended);
  EXPECT_EQ(fixture.data(), lasting->total + of_ended);
}

TEST(CellsTest, WhatOthersHoldCountsUntilTheOwnerAloneMayFeed) {
  CellsFixture fixture;
  std::atomic<std::uint64_t> refused = 0;
  fixture.fixture.interface->count_refused_in(refused);
  const auto owners = fixture.bind(kUid);
  const auto daemons = fixture.bind(kDaemon);
  const auto others = fixture.bind(kStranger);
  owners->add(fixture.shapes[0], 5);
  daemons->add(fixture.shapes[0], 1);
  others->add(fixture.shapes[0], 7);
  fixture.samples();
  others->add(fixture.shapes[0], 1);
  fixture.fixture.interface->set_feed(Feed::kOwner, fixture.fixture.clock.now());
  EXPECT_EQ(fixture.samples(), 14u);
  EXPECT_EQ(refused, 0u);
  others->add(fixture.shapes[0], 100);
  owners->add(fixture.shapes[0], 2);
  EXPECT_EQ(fixture.samples(), 16u);
  EXPECT_EQ(fixture.data(), 16u);
  EXPECT_EQ(refused, 100u);
  // In the next era cells begin anew.
  EXPECT_EQ(fixture.fixture.define("data=reset"), "");
  others->add(fixture.shapes[0], 3);
  EXPECT_EQ(fixture.samples(), 16u);
  EXPECT_EQ(refused, 103u);
  others->add(fixture.shapes[0], 4);
  fixture.end(others);
  EXPECT_EQ(fixture.samples(), 16u);
  EXPECT_EQ(refused, 107u);
  EXPECT_EQ(fixture.data(), 0u);
}

// Others with many cells make the command long, but no step of it.
TEST(CellsTest, ToLetTheOwnerAloneFeedTakesSteps) {
  CellsFixture fixture(50);
  std::atomic<std::uint64_t> refused = 0;
  fixture.fixture.interface->count_refused_in(refused);
  std::vector<std::shared_ptr<FakeSource>> sources;
  for (std::size_t i = 0; i < 50; ++i) {
    sources.push_back(fixture.bind(kStranger, i));
    for (std::uint32_t id = 1; id < 20; ++id) fixture.bind(sources.back(), i, id);
    sources.back()->add(fixture.shapes[i], 1);
  }
  std::size_t steps = 1, reads = 0;
  const auto now = fixture.fixture.clock.now();
  const auto reads_of_all = [&] {
    std::size_t all = 0;
    for (const auto& each : sources) all += each->reads;
    return all;
  };
  for (; !fixture.fixture.interface->set_feed(Feed::kOwner, now, always_late); ++steps) {
    EXPECT_LE(reads_of_all() - reads, 17u);
    reads = reads_of_all();
    ASSERT_LT(steps, 1'000u);
  }
  EXPECT_GE(steps, 50u);
  EXPECT_EQ(reads_of_all(), 1'000u) << "each once";
  EXPECT_EQ(fixture.samples(), 1'000u);
  EXPECT_EQ(refused, 0u);
  for (const auto& each : sources) each->add(fixture.shapes[0], 2);
  EXPECT_EQ(fixture.samples(), 1'000u);
  EXPECT_EQ(refused, 2'000u);
}

// Cells are bound again before they count.
TEST(CellsTest, WhereAnyMayFeedAgainNothingIsRefused) {
  CellsFixture fixture;
  std::atomic<std::uint64_t> refused = 0;
  fixture.fixture.interface->count_refused_in(refused);
  const auto others = fixture.bind(kStranger);
  const auto now = fixture.fixture.clock.now();
  EXPECT_TRUE(fixture.fixture.interface->set_feed(Feed::kOwner, now));
  others->add(fixture.shapes[0], 5);
  fixture.samples();
  EXPECT_TRUE(fixture.fixture.interface->set_feed(Feed::kAny, now));
  others->add(fixture.shapes[0], 5);
  EXPECT_EQ(fixture.samples(), 0u);
  EXPECT_EQ(refused, 5u);
}

TEST(CellsTest, AnEndReadsTheCellsOfTheEndedFeederOnceAndNoOthers) {
  CellsFixture fixture;
  const auto lasting = fixture.bind(kStranger);
  const auto other = fixture.bind(kUid);
  for (std::uint32_t id = 1; id < 2000; ++id) fixture.bind(other, 0, id);
  fixture.end(other);
  EXPECT_EQ(other->reads, 2000u);
  EXPECT_EQ(lasting->reads, 0u);
}

TEST(CellsTest, WhatAnEndedFeederHadIsShownAtOnceWhereItsUidHasNoOther) {
  CellsFixture fixture;
  const auto lasting = fixture.bind(kUid);
  const auto other = fixture.bind(kStranger);
  lasting->add(fixture.shapes[0], 5);
  other->add(fixture.shapes[0], 7);
  fixture.samples();
  other->add(fixture.shapes[0], 1);
  fixture.end(other);
  EXPECT_EQ(fixture.data(), 13u);
}

// The next look has it. Until then the one before is shown.
TEST(CellsTest, WhatAnEndedFeederHadIsNeverShownTwice) {
  CellsFixture fixture;
  const auto lasting = fixture.bind(kUid);
  const auto other = fixture.bind(kUid);
  lasting->add(fixture.shapes[0], 5);
  other->add(fixture.shapes[0], 7);
  EXPECT_EQ(fixture.samples(), 12u);
  other->add(fixture.shapes[0], 1);
  fixture.end(other);
  EXPECT_EQ(fixture.data(), 12u);
  EXPECT_EQ(fixture.samples(), 13u);
  EXPECT_EQ(fixture.data(), 13u);
}

TEST(CellsTest, ABudgetHoldsInsideOneStatistic) {
  CellsFixture fixture;
  std::vector<std::shared_ptr<FakeSource>> sources;
  for (int i = 0; i < 100; ++i) sources.push_back(fixture.bind(kStranger));
  for (const auto& each : sources) {
    each->cells = 9;
    each->add(fixture.shapes[0], 1);
  }
  // A file costs 1, and each cell.
  fixture.samples(cells_for(CellBudget::Of::kOneInterface, 0, 1000));
  std::size_t reads = 0;
  for (const auto& each : sources) reads += each->reads;
  EXPECT_EQ(reads, 25u);  // a third of what is left for others
  EXPECT_EQ(sources[25]->not_read, 1u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(fixture.data(), 0u);
    fixture.samples(cells_for(CellBudget::Of::kOneInterface, 0, 1000));
  }
  EXPECT_EQ(fixture.data(), 100u);
}

TEST(CellsTest, CellsOfAStrangerHideNoOthers) {
  CellsFixture fixture(2);
  const auto strange = fixture.bind(kStranger);
  strange->cells = 1000;
  constexpr std::uint32_t kIds = FeederCells::kOthersSourcesOfUidMax;
  for (std::uint32_t id = 1; id < kIds; ++id) fixture.bind(strange, 0, id);
  const auto own = fixture.bind(kUid);
  const auto of_root = fixture.bind(0);
  const auto behind = fixture.bind(kUid, 1);
  const auto of_daemon = fixture.bind(kDaemon, 1);
  for (int i = 1; i < 10; ++i) {
    for (const auto& each : {strange, own, of_root, behind, of_daemon}) {
      each->add(each == behind || each == of_daemon ? fixture.shapes[1] : fixture.shapes[0], 1);
    }
    fixture.samples(CellBudget());
    EXPECT_EQ(fixture.data(0), static_cast<std::uint64_t>(2 * i));
    EXPECT_EQ(fixture.data(1), static_cast<std::uint64_t>(2 * i));
    if (fixture.data(0) != static_cast<std::uint64_t>(2 * i)) break;
  }
  EXPECT_GE(strange->not_read, 1u);
}

// Its interfaces come first, and another's come last.
TEST(CellsTest, AUidMayUseAThirdOfWhatItLeavesToOthers) {
  CellBudget budget = cells_for(CellBudget::Of::kAll, 100, 1000);
  const CellParty greedy{kStranger, CellRank::kOwner}, other{kUid, CellRank::kOther};
  const CellParty root{0, CellRank::kTrusted};
  for (int i = 0; has_cells(budget, greedy); ++i) {
    ASSERT_LT(i, 25);
    charge(budget, greedy, CellBudget::cost_of(9, 0));
  }
  charge(budget, other, CellBudget::cost_of(179, 0));
  EXPECT_TRUE(has_cells(budget, other));
  charge(budget, other, CellBudget::cost_of(9, 0));
  EXPECT_FALSE(has_cells(budget, other));
  EXPECT_TRUE(has_cells(budget, root));
  charge(budget, root, CellBudget::cost_of(99, 0));
  EXPECT_FALSE(has_cells(budget, root));
}

TEST(CellsTest, TheOwnerOfTheOneInterfaceMayUseAll) {
  CellBudget budget = cells_for(CellBudget::Of::kOneInterface, 0, 1000);
  const CellParty owner{kUid, CellRank::kOwner}, other{kStranger, CellRank::kOther};
  charge(budget, owner, CellBudget::cost_of(998, 0));
  EXPECT_TRUE(has_cells(budget, owner));
  EXPECT_FALSE(has_cells(budget, other));
  charge(budget, owner, CellBudget::cost_of(0, 0));
  EXPECT_FALSE(has_cells(budget, owner));
  EXPECT_FALSE(has_cells(budget, other));
}

TEST(CellsTest, AnArrayCostsByItsIntervals) {
  CellBudget budget = cells_for(CellBudget::Of::kAll, 900, 0);
  const CellParty root{0, CellRank::kTrusted};
  charge(budget, root, CellBudget::cost_of(10, 1024));
  charge(budget, root, CellBudget::cost_of(10, 1024));
  EXPECT_TRUE(has_cells(budget, root));
  charge(budget, root, CellBudget::cost_of(10, 1024));
  EXPECT_FALSE(has_cells(budget, root));
}

TEST(CellsTest, AUidReadsAFewCellsHoweverManyOthersHaveUsed) {
  CellsFixture fixture(2);
  for (uid_t uid = kStranger; uid < kStranger + 40; ++uid) fixture.bind(uid)->cells = 50'000;
  const auto small = fixture.bind(kStranger + 40, 1);
  small->cells = 3;
  for (std::uint64_t i = 1; i <= 3; ++i) {
    small->add(fixture.shapes[1], 1);
    fixture.samples(CellBudget());
    EXPECT_EQ(fixture.data(1), i);
  }
}

TEST(CellsTest, LooksForPlacesAreSharedByUidsToo) {
  CellBudget budget(CellBudget::Of::kAll, {0, 0}, {10, 100});
  const CellParty greedy{kStranger, CellRank::kOther}, other{kUid, CellRank::kOther};
  budget.charge_looks(greedy, 60);
  EXPECT_FALSE(budget.has_looks_for(greedy));
  EXPECT_TRUE(budget.has_looks_for(other));
  EXPECT_TRUE(budget.has_looks_for({0, CellRank::kTrusted}));
}

// A look at the cells of a uid that are too many for one open is continued, by the next open.
TEST(CellsTest, AStatisticWithManyCellsDoesNotStarveTheNextOne) {
  CellsFixture fixture(2);
  std::vector<std::shared_ptr<FakeSource>> many;
  for (int i = 0; i < 30; ++i) many.push_back(fixture.bind(kStranger));
  for (const auto& each : many) each->cells = 9;  // 300 in all, of 250 that an open reads
  const auto few = fixture.bind(kStranger, 1);
  const auto open = [&] { fixture.samples(cells_for(CellBudget::Of::kOneInterface, 0, 1000)); };
  for (std::uint64_t i = 1; i <= 10; ++i) {
    many.front()->add(fixture.shapes[0], 1);
    many.back()->add(fixture.shapes[0], 1);
    few->add(fixture.shapes[1], 1);
    for (int opens = 0; opens < 3; ++opens) open();
    EXPECT_EQ(fixture.data(1), i);
    EXPECT_GE(fixture.data(0), 2 * i - 1);
  }
}

// A look at each is whole, but not all fit into one open.
TEST(CellsTest, SeveralStatisticsWithManyCellsDoNotStarveTheNextOne) {
  CellsFixture fixture(4);
  for (std::size_t i = 0; i < 3; ++i) {
    for (int n = 0; n < 20; ++n) fixture.bind(kStranger, i)->cells = 9;  // 200 of 250
  }
  const auto few = fixture.bind(kStranger, 3);
  for (std::uint64_t i = 1; i <= 10; ++i) {
    few->add(fixture.shapes[3], 1);
    for (int opens = 0; opens < 4; ++opens) {
      fixture.samples(cells_for(CellBudget::Of::kOneInterface, 0, 1000));
    }
    EXPECT_EQ(fixture.data(3), i);
  }
}

// The same, of opens that look at several interfaces.
TEST(CellsTest, AnInterfaceWithManyCellsDoesNotStarveTheNextOne) {
  CellsFixture first, second;
  std::vector<std::shared_ptr<FakeSource>> many;
  for (int i = 0; i < 30; ++i) many.push_back(first.bind(kStranger));
  for (const auto& each : many) each->cells = 9;
  const auto few = second.bind(kStranger);
  CellRounds rounds;
  const auto open = [&] {
    rounds.begin_open();
    CellRounds its = rounds;
    CellBudget some = cells_for(CellBudget::Of::kAll, 0, 1000);
    some.go_by(its);
    for (CellsFixture* const each : {&first, &second}) {
      each->fixture.interface->overview(each->fixture.clock.now(), some);
    }
    rounds.end_open(its);
  };
  for (std::uint64_t i = 1; i <= 10; ++i) {
    many.back()->add(first.shapes[0], 1);
    few->add(second.shapes[0], 1);
    for (int opens = 0; opens < 3; ++opens) open();
    EXPECT_EQ(second.data(), i);
    EXPECT_GE(first.data() + 1, i);
  }
  // Once there are few, each open shows what there is.
  for (const auto& each : many) each->cells = 1;
  for (int opens = 0; opens < 3; ++opens) open();
  for (std::uint64_t i = 1; i <= 3; ++i) {
    many.front()->add(first.shapes[0], 1);
    few->add(second.shapes[0], 1);
    open();
    EXPECT_EQ(second.data(), 10 + i);
    EXPECT_EQ(first.data(), 10 + i);
  }
}

// What was read is taken out, and no id is read twice.
TEST(CellsTest, AnEndThatIsLateStopsBetweenTwoIds) {
  CellsFixture fixture;
  const auto lasting = fixture.bind(kStranger);
  const auto ended = fixture.bind(kStranger);
  for (std::uint32_t id = 1; id < 10; ++id) fixture.bind(ended, 0, id);
  ended->add(fixture.shapes[0], 3);  // under each id
  lasting->add(fixture.shapes[0], 1);
  EXPECT_EQ(fixture.samples(), 31u);
  ended->reads = 0;
  int asked = 0;
  for (std::size_t calls = 1; calls <= 3; ++calls) {
    EXPECT_FALSE(fixture.end(ended, [&] { return ++asked % 3 == 0; }));
    EXPECT_EQ(ended->reads, 3 * calls);
    EXPECT_EQ(fixture.data(), 31u);
  }
  EXPECT_TRUE(fixture.end(ended, [] { return true; }));
  EXPECT_EQ(ended->reads, 10u);
  EXPECT_EQ(fixture.samples(), 31u);
  EXPECT_EQ(fixture.data(), 31u);
}

TEST(CellsTest, StrangersLeaveRoomForEachOtherAndForRootAndTheOwner) {
  CellsFixture fixture;
  const auto binds = [&](const std::shared_ptr<FakeSource>& source, std::uint32_t id) {
    return bool(fixture.fixture.interface->bind_cells(fixture.statistic(0), source, id));
  };
  std::uint32_t bound = 0;
  for (uid_t uid = kStranger; bound < FeederCells::kOthersSourcesMax; ++uid) {
    const auto strange = std::make_shared<FakeSource>(uid);
    std::uint32_t its = 0;
    while (its < FeederCells::kSourcesMax && binds(strange, its)) ++its;
    ASSERT_EQ(its, FeederCells::kOthersSourcesOfUidMax);
    EXPECT_TRUE(binds(strange, 0));  // it has that already
    bound += its;
  }
  EXPECT_EQ(bound, FeederCells::kOthersSourcesMax);
  EXPECT_FALSE(binds(std::make_shared<FakeSource>(kStranger + 100), 0));
  EXPECT_TRUE(binds(std::make_shared<FakeSource>(0), 0));
  EXPECT_TRUE(binds(std::make_shared<FakeSource>(kDaemon), 0));
  EXPECT_TRUE(binds(std::make_shared<FakeSource>(kUid), 0));
}

// By the CPU time of this thread, and the least of many rounds: other processes run meanwhile.
TEST(CellsTest, FourTimesAsManyBindingsOfOneUidTakeFourTimesAsLong) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer's times say nothing of ours";
  const SystemClock clock;
  constexpr std::uint32_t kFew = FeederCells::kSourcesMax / 4;
  std::array<std::chrono::nanoseconds, 2> least{std::chrono::hours(1), std::chrono::hours(1)};
  for (int round = 0; round < 20; ++round) {
    for (const std::uint32_t times : {1u, 4u}) {
      CellsFixture fixture;
      const auto source = std::make_shared<FakeSource>(kUid);
      const auto begun = clock.cpu_time();
      for (std::uint32_t id = 0; id < times * kFew; ++id) fixture.bind(source, 0, id);
      auto& its = least[times == 1 ? 0 : 1];
      its = std::min(its, clock.cpu_time() - begun);
    }
  }
  EXPECT_LT(least[1], 8 * least[0]);
}

// A definition that keeps the data looks at no more cells of others than a budget allows.
TEST(CellsTest, AnEndedFeederThatNoLookHasIsKeptByANewDefinition) {
  CellsFixture fixture;
  std::vector<std::shared_ptr<FakeSource>> many;
  for (int i = 0; i < 4; ++i) many.push_back(fixture.bind(kStranger));
  for (const auto& each : many) each->cells = 1'000'000;
  const auto ended = fixture.bind(kStranger);
  ended->add(fixture.shapes[0], 7);
  fixture.end(ended);
  EXPECT_EQ(fixture.fixture.define("range_max=1000"), "");
  EXPECT_EQ(fixture.samples(), 7u);
  EXPECT_EQ(fixture.data(), 7u);
}

// What a command costs is bounded, and of root's cells it reads all.
TEST(CellsTest, AResetReadsNoMoreThanABudgetAndCountsWhatItReads) {
  CellsFixture fixture;
  std::vector<std::shared_ptr<FakeSource>> strange;
  for (int i = 0; i < 100; ++i) {
    strange.push_back(fixture.bind(kStranger));
    strange.back()->cells = 9'999;
  }
  const auto own = fixture.bind(kUid);
  own->add(fixture.shapes[0], 7);
  const auto of_root = fixture.bind(0);
  of_root->cells = 1'000'000;
  of_root->add(fixture.shapes[0], 3);
  EXPECT_EQ(fixture.fixture.define("data=reset"), "");
  std::size_t reads = 0;
  for (const auto& each : strange) reads += each->reads;
  EXPECT_LE(reads, 10u);
  EXPECT_EQ(fixture.data(), 0u);
  EXPECT_EQ(fixture.samples(), 10u);
  own->add(fixture.shapes[0], 2);
  EXPECT_EQ(fixture.samples(), 12u);
  EXPECT_EQ(fixture.data(), 2u);
}

// Feeders of several uids add, end and begin, users reset, servers are replaced and killed, and
// budgets cut.
class RandomFeeders {
 public:
  explicit RandomFeeders(std::uint64_t seed) : random_(seed) { save(); }

  void step() {
    const std::uint64_t kind = random_() % 64;
    if (kind < 16) return begin();
    if (kind == 16) return reset();
    if (kind == 17) return hand_over();
    if (kind == 18) return save();
    if (kind == 19) return kill();
    if (kind < 28) return fixture_.samples(some_budget(20)), void();
    if (sources_.empty()) return;
    const std::size_t which = random_() % sources_.size();
    kind < 36 ? end(which) : add(which);
  }
  // Nothing is shown twice, and what was shown stays.
  void check_shown() {
    const std::uint64_t shown = fixture_.data();
    ASSERT_LE(shown, data_);
    ASSERT_GE(shown, shown_before_);
    shown_before_ = shown;
  }
  // With a budget for all of it, all is there.
  void check_all() {
    ASSERT_EQ(fixture_.samples(), samples_);
    ASSERT_EQ(fixture_.data(), data_);
  }
  void end_all() {
    while (!sources_.empty()) end(sources_.size() - 1);
  }

 private:
  CellBudget some_budget(std::size_t most) {
    return cells_for(CellBudget::Of::kAll, 0, random_() % (4 * most));
  }
  void begin() {
    sources_.push_back(fixture_.bind(static_cast<uid_t>(kUid + random_() % 3)));
    sources_.back()->cells = random_() % 4;
    sources_.back()->cells_at_once = 1 + random_() % 3;
  }
  void end(std::size_t which) {
    fixture_.end(sources_[which]);
    ended_.push_back(sources_[which]);
    sources_.erase(sources_.begin() + static_cast<std::ptrdiff_t>(which));
  }
  void add(std::size_t which) {
    const std::uint64_t more = random_() % 5;
    sources_[which]->add(fixture_.shapes[0], more);
    samples_ += more;
    data_ += more;
  }
  // The budget of a command is large enough for these.
  void reset() {
    EXPECT_EQ(fixture_.fixture.define("data=reset"), "");
    shown_before_ = data_ = 0;
    save();  // it is written through
  }
  // Of live feeders less may be shown until a look is whole again.
  void hand_over() {
    fixture_.hand_over(some_budget(40), found());
    end_again();
    save();
  }
  // Files are there until the second save after the end of their feeders.
  void save() {
    saved_ = fixture_.save(some_budget(40));
    ended_before_ = std::exchange(ended_, {});
  }
  void kill() {
    fixture_.resume(saved_, found());
    end_again();
  }
  // By the next server.
  std::vector<std::shared_ptr<FakeSource>> found() const {
    auto all = sources_;
    all.insert(all.end(), ended_before_.begin(), ended_before_.end());
    all.insert(all.end(), ended_.begin(), ended_.end());
    return all;
  }
  // It hears of those ends again.
  void end_again() {
    for (const auto* const ended : {&ended_before_, &ended_}) {
      for (const auto& each : *ended) fixture_.end(each);
    }
    shown_before_ = 0;
  }

  std::mt19937_64 random_;
  CellsFixture fixture_;
  std::vector<std::shared_ptr<FakeSource>> sources_;
  std::vector<std::shared_ptr<FakeSource>> ended_before_, ended_;  // the last save, and since
  std::string saved_;
  std::uint64_t samples_ = 0;
  std::uint64_t data_ = 0;  // since the last reset
  std::uint64_t shown_before_ = 0;
};

TEST(CellsTest, WhateverIsCutNothingIsCountedTwiceOrLost) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  for (unsigned round = 0; round < 200 && !testing::Test::HasFailure(); ++round) {
    RandomFeeders feeders(std::uint64_t{seed} << 8 | round);
    for (int i = 0; i < 200; ++i) {
      feeders.step();
      feeders.check_shown();
    }
    feeders.check_all();
    feeders.end_all();
    feeders.check_all();
  }
}

TEST(CellsTest, ALookServesAllThatCameBeforeItBegan) {
  CellLooks looks;
  const CellLooks::Open early(looks);
  looks.begin();
  const CellLooks::Open meanwhile(looks);
  EXPECT_FALSE(early.is_served());
  looks.end();
  EXPECT_TRUE(early.is_served());
  EXPECT_FALSE(meanwhile.is_served());
  looks.begin();
  looks.end();
  EXPECT_TRUE(meanwhile.is_served());
}

TEST(CellsTest, StatNeedsNoLookBesideAnOpenThatWaits) {
  CellLooks looks;
  const CellLooks::Stat early(looks);
  looks.begin();
  const CellLooks::Stat meanwhile(looks);
  EXPECT_FALSE(meanwhile.is_served());
  looks.end();
  EXPECT_TRUE(early.is_served());
  EXPECT_TRUE(meanwhile.is_served());

  const CellLooks::Stat late(looks);
  {
    const CellLooks::Open open(looks);
    EXPECT_TRUE(late.is_served());
  }
  EXPECT_FALSE(late.is_served());
}

}  // namespace
}  // namespace tallyfs::statistics
