// Cells of feeders after a kill of the server; cells_test.cpp has it at random.
#include <gtest/gtest.h>

#include "cells_stand.h"
#include "tests/unit/allocated.h"

namespace tallyfs::statistics {
namespace {

// A server that was killed had shown feeders another era, and did not save it.
TEST(KeptCellsTest, AnEraThatWasNotSavedIsOver) {
  CellsStand stand;
  const auto source = stand.bind(kUid);
  source->add(stand.shapes[0], 7);
  const std::string saved = stand.save(stand.budget);
  EXPECT_EQ(stand.stand.define("data=reset"), "");
  source->add(stand.shapes[0], 100);
  const std::uint32_t era = stand.shapes[0].era;
  stand.go_on(saved, {source});
  EXPECT_EQ(stand.samples(), 7u);
  EXPECT_EQ(stand.data(), 7u);
  EXPECT_EQ(stand.shapes[0].era, era + 1);
  source->add(stand.shapes[0], 2);
  EXPECT_EQ(stand.samples(), 9u);
  EXPECT_EQ(stand.data(), 9u);
}

// Its file is there until that is saved, and the next server finds it.
TEST(KeptCellsTest, WhatAnEndedFeederHadCountedIsTakenOnceWheneverTheServerIsKilled) {
  CellsStand stand;
  const auto ended = stand.bind(kUid), other = stand.bind(kUid);
  ended->add(stand.shapes[0], 7);
  other->add(stand.shapes[0], 1);
  EXPECT_EQ(stand.samples(), 8u);
  const std::string before = stand.save(stand.budget);
  ended->add(stand.shapes[0], 20);
  stand.end(ended);
  const std::string after = stand.save(stand.budget);
  for (const std::string* const saved : {&before, &after, &before}) {
    stand.go_on(*saved, {ended, other});
    stand.end(ended);
    EXPECT_EQ(stand.samples(), 28u);
    EXPECT_EQ(stand.data(), 28u);
  }
}

// The cells of another uid are there still, and its lane is bound again where any may feed.
TEST(KeptCellsTest, WhatWasTakenOutAsTheOwnerAloneMayFeedCountsOnceAfterAKill) {
  CellsStand stand;
  const auto owners = stand.bind(kUid), others = stand.bind(kStranger);
  const auto now = stand.stand.clock.now();
  owners->add(stand.shapes[0], 7);
  others->add(stand.shapes[0], 100);
  EXPECT_TRUE(stand.stand.interface->set_feed(Feed::kOwner, now));
  EXPECT_TRUE(stand.stand.interface->set_feed(Feed::kAny, now));
  others->add(stand.shapes[0], 5);
  EXPECT_EQ(stand.samples(), 107u);
  for (int kills = 0; kills < 2; ++kills) {
    stand.go_on(stand.save(stand.budget), {owners, others});
    EXPECT_EQ(stand.samples(), 107u);
    EXPECT_EQ(stand.data(), 107u);
  }
}

// Such a server does not bind the lanes of others, and the one after it may.
TEST(KeptCellsTest, ThoseThatMayNotFeedItAreKnownToTheNextServerAsTakenOut) {
  CellsStand stand;
  const auto others = stand.bind(kStranger);
  others->add(stand.shapes[0], 100);
  EXPECT_TRUE(stand.stand.interface->set_feed(Feed::kOwner, stand.stand.clock.now()));
  stand.go_on(stand.save(stand.budget), {});
  stand.stand.interface->find_taken_out(stand.statistic(0), others, 0);
  EXPECT_TRUE(stand.stand.interface->set_feed(Feed::kAny, stand.stand.clock.now()));
  stand.go_on(stand.save(stand.budget), {others});
  EXPECT_EQ(stand.samples(), 100u);
  EXPECT_EQ(stand.data(), 100u);
}

// It counts again what it holds.
TEST(KeptCellsTest, ACellThatIsBoundAgainIsBoundInTheNextServer) {
  CellsStand stand;
  const auto others = stand.bind(kStranger);
  const auto now = stand.stand.clock.now();
  EXPECT_TRUE(stand.stand.interface->set_feed(Feed::kOwner, now));
  EXPECT_TRUE(stand.stand.interface->set_feed(Feed::kAny, now));
  stand.bind(others, 0, 0);
  others->add(stand.shapes[0], 5);
  EXPECT_EQ(stand.samples(), 5u);
  stand.go_on(stand.save(stand.budget), {others});
  others->add(stand.shapes[0], 2);
  EXPECT_EQ(stand.samples(), 7u);
}

// No look at the interface comes between the reset and the save.
TEST(KeptCellsTest, ASavedCountHasTheSamplesThatAResetFoundJustBefore) {
  CellsStand stand;
  const auto source = stand.bind(kUid);
  source->add(stand.shapes[0], 7);
  EXPECT_EQ(stand.stand.define("data=reset"), "");
  std::string bytes;
  ByteWriter out(bytes);
  stand.stand.interface->save(out, stand.budget);
  ByteReader in(bytes);
  const auto loaded = Interface::load(in, stand.stand.ledger);
  ASSERT_TRUE(loaded);
  CellBudget none;
  EXPECT_EQ(loaded.value()->overview(stand.stand.clock.now(), none).samples, 7u);
}

// As without a keeper, where a lane is closed at once.
TEST(KeptCellsTest, FeedersThatEndOneAfterAnotherTakeNoMoreAndMoreMemory) {
  CellsStand stand;
  const auto stays = stand.bind(kUid);
  const auto end_one = [&] {
    const std::size_t before = allocated_bytes();
    stand.end(stand.bind(kUid));
    return allocated_bytes() - before;
  };
  for (int i = 0; i < 100; ++i) end_one();
  const std::size_t of_one = end_one();
  std::size_t all = 0;
  for (int i = 0; i < 5'000; ++i) all += end_one();
  EXPECT_LE(all, 5'000 * of_one + 4'096);
}

}  // namespace
}  // namespace tallyfs::statistics
