// Cells of feeders after a kill of the server; cells_test.cpp has it at random.
#include <gtest/gtest.h>

#include "cells_fixture.h"
#include "tests/unit/allocated.h"

namespace tallyfs::statistics {
namespace {

// A server that was killed had shown feeders another era, and did not save it.
TEST(KeptCellsTest, AnEraThatWasNotSavedIsOver) {
  CellsFixture fixture;
  const auto source = fixture.bind(kUid);
  source->add(fixture.shapes[0], 7);
  const std::string saved = fixture.save(fixture.budget);
  EXPECT_EQ(fixture.fixture.define("data=reset"), "");
  source->add(fixture.shapes[0], 100);
  const std::uint32_t era = fixture.shapes[0].era;
  fixture.resume(saved, {source});
  EXPECT_EQ(fixture.samples(), 7u);
  EXPECT_EQ(fixture.data(), 7u);
  EXPECT_EQ(fixture.shapes[0].era, era + 1);
  source->add(fixture.shapes[0], 2);
  EXPECT_EQ(fixture.samples(), 9u);
  EXPECT_EQ(fixture.data(), 9u);
}

// Its file is there until that is saved, and the next server finds it.
TEST(KeptCellsTest, WhatAnEndedFeederHadCountedIsTakenOnceWheneverTheServerIsKilled) {
  CellsFixture fixture;
  const auto ended = fixture.bind(kUid), other = fixture.bind(kUid);
  ended->add(fixture.shapes[0], 7);
  other->add(fixture.shapes[0], 1);
  EXPECT_EQ(fixture.samples(), 8u);
  const std::string before = fixture.save(fixture.budget);
  ended->add(fixture.shapes[0], 20);
  fixture.end(ended);
  const std::string after = fixture.save(fixture.budget);
  for (const std::string* const saved : {&before, &after, &before}) {
    fixture.resume(*saved, {ended, other});
    fixture.end(ended);
    EXPECT_EQ(fixture.samples(), 28u);
    EXPECT_EQ(fixture.data(), 28u);
  }
}

// The cells of another uid are there still, and its lane is bound again where any may feed.
TEST(KeptCellsTest, WhatWasTakenOutAsTheOwnerAloneMayFeedCountsOnceAfterAKill) {
  CellsFixture fixture;
  const auto owners = fixture.bind(kUid), others = fixture.bind(kStranger);
  const auto now = fixture.fixture.clock.now();
  owners->add(fixture.shapes[0], 7);
  others->add(fixture.shapes[0], 100);
  EXPECT_TRUE(fixture.fixture.interface->set_feed(Feed::kOwner, now));
  EXPECT_TRUE(fixture.fixture.interface->set_feed(Feed::kAny, now));
  others->add(fixture.shapes[0], 5);
  EXPECT_EQ(fixture.samples(), 107u);
  for (int kills = 0; kills < 2; ++kills) {
    fixture.resume(fixture.save(fixture.budget), {owners, others});
    EXPECT_EQ(fixture.samples(), 107u);
    EXPECT_EQ(fixture.data(), 107u);
  }
}

// Such a server does not bind the lanes of others, and the one after it may.
TEST(KeptCellsTest, ThoseThatMayNotFeedItAreKnownToTheNextServerAsTakenOut) {
  CellsFixture fixture;
  const auto others = fixture.bind(kStranger);
  others->add(fixture.shapes[0], 100);
  EXPECT_TRUE(fixture.fixture.interface->set_feed(Feed::kOwner, fixture.fixture.clock.now()));
  fixture.resume(fixture.save(fixture.budget), {});
  fixture.fixture.interface->find_taken_out(fixture.statistic(0), others, 0);
  EXPECT_TRUE(fixture.fixture.interface->set_feed(Feed::kAny, fixture.fixture.clock.now()));
  fixture.resume(fixture.save(fixture.budget), {others});
  EXPECT_EQ(fixture.samples(), 100u);
  EXPECT_EQ(fixture.data(), 100u);
}

// It counts again what it holds.
TEST(KeptCellsTest, ACellThatIsBoundAgainIsBoundInTheNextServer) {
  CellsFixture fixture;
  const auto others = fixture.bind(kStranger);
  const auto now = fixture.fixture.clock.now();
  EXPECT_TRUE(fixture.fixture.interface->set_feed(Feed::kOwner, now));
  EXPECT_TRUE(fixture.fixture.interface->set_feed(Feed::kAny, now));
  fixture.bind(others, 0, 0);
  others->add(fixture.shapes[0], 5);
  EXPECT_EQ(fixture.samples(), 5u);
  fixture.resume(fixture.save(fixture.budget), {others});
  others->add(fixture.shapes[0], 2);
  EXPECT_EQ(fixture.samples(), 7u);
}

// No look at the interface comes between the reset and the save.
TEST(KeptCellsTest, ASavedCountHasTheSamplesThatAResetFoundJustBefore) {
  CellsFixture fixture;
  const auto source = fixture.bind(kUid);
  source->add(fixture.shapes[0], 7);
  EXPECT_EQ(fixture.fixture.define("data=reset"), "");
  std::string bytes;
  ByteWriter out(bytes);
  fixture.fixture.interface->save(out, fixture.budget);
  ByteReader in(bytes);
  const auto loaded = Interface::load(in, fixture.fixture.ledger);
  ASSERT_TRUE(loaded);
  CellBudget none;
  EXPECT_EQ(loaded.value()->overview(fixture.fixture.clock.now(), none).samples, 7u);
}

// As without a keeper, where a lane is closed at once.
TEST(KeptCellsTest, FeedersThatEndOneAfterAnotherTakeNoMoreAndMoreMemory) {
  CellsFixture fixture;
  const auto stays = fixture.bind(kUid);
  const auto end_one = [&] {
    const std::size_t before = allocated_bytes();
    fixture.end(fixture.bind(kUid));
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
