// What cells held when they were read before: it stands where they are lower or gone.
#include <gtest/gtest.h>

#include "lanes_fixture.h"

namespace tallyfs {
namespace {

TEST(LanesFormerTest, ACountThatFellIsAFaultAndWhatWasReadBeforeStands) {
  LanesFixture fixture("type=value mode=increments");
  fixture.make_lane();
  LaneCell& cell = fixture.begin_cell();
  CellWriter(cell).add(1, 5);
  EXPECT_EQ(fixture.read("data"), "s 5\n");
  for (CellSlot& slot : cell.slots) slot.values[kTotalAt] = 3;
  EXPECT_EQ(fixture.read("data"), "s 5\n");
  EXPECT_EQ(fixture.own("lane_bad"), 1u);
  EXPECT_TRUE(fixture.has_error(
      "this is not what a feeder writes: a cell's total or number is lower than before: read 3, "
      "allowed 5, era " +
      std::to_string(fixture.era())));
  // Of a closed file, too, and of one whose feeder has ended.
  for (int i = 0; i < 3; ++i) EXPECT_EQ(fixture.read("data"), "s 5\n");
  EXPECT_EQ(fixture.own("lane_bad"), 3u);
  fixture.end_feeder();
  EXPECT_EQ(fixture.read("data"), "s 5\n");
}

TEST(LanesFormerTest, WhatIsReadNoLongerStandsUntilTheNextEra) {
  LanesFixture fixture("type=array range_min=0 range_max=100 base_interval=10 scale=lin");
  fixture.make_lane();
  LaneCell& cell = fixture.begin_cell();
  CellWriter(cell).add(5, 7);
  const std::string before = fixture.read("data");
  reinterpret_cast<std::atomic<std::uint32_t>*>(fixture.memory_ + kLaneHeapAt)[kIdOfS] = 0;
  reinterpret_cast<LaneHeader*>(fixture.memory_)->changes += 1;
  EXPECT_EQ(fixture.read("data"), before);
  cell.era = 0;
  EXPECT_EQ(fixture.read("data"), before);
  fixture.define("data=reset");
  EXPECT_NE(fixture.read("data"), before);
  EXPECT_EQ(fixture.own("lane_bad"), 0u);
}

TEST(LanesFormerTest, WhatWasReadIsChargedAndGivenBack) {
  LanesFixture fixture("type=array range_min=0 range_max=100 base_interval=10 scale=lin");
  fixture.make_lane();
  CellWriter(fixture.begin_cell()).add(5, 7);
  const std::uint64_t before = fixture.ledger_->total().bytes;
  fixture.read("data");
  const std::uint64_t kept = fixture.ledger_->total().bytes - before;
  EXPECT_GE(kept, sizeof(LaneCell));
  EXPECT_LE(kept, sizeof(LaneCell) + 256);
  fixture.read("data");
  EXPECT_EQ(fixture.ledger_->total().bytes, before + kept);
  fixture.define("data=reset");
  fixture.clock_.advance(61s);  // what a reset discards can be had back for a minute
  fixture.read("data");
  EXPECT_EQ(fixture.ledger_->total().bytes, before);
}

// Cells of a thousand threads, so far apart as the smallest ones may be.
void fill(LanesFixture& fixture, CellKind kind, std::uint32_t intervals) {
  auto* const entries = reinterpret_cast<LaneEntry*>(fixture.memory_ + kLaneEntriesAt);
  for (std::uint32_t thread = 0; thread < 1000; ++thread) {
    const std::uint32_t index = kLaneHeapAt + 64 * 1024 + 64 * thread;
    const std::uint32_t at =
        kLaneHeapAt + 256 * 1024 + static_cast<std::uint32_t>(sizeof(LaneCell)) * thread;
    reinterpret_cast<std::atomic<std::uint32_t>*>(fixture.memory_ + index)[kIdOfS] = at;
    entries[thread].thread = 1 + thread;
    entries[thread].index = std::uint64_t{16} << 32 | index;
    auto& cell = *reinterpret_cast<LaneCell*>(fixture.memory_ + at);
    cell.number = fixture.number_;
    cell.era = fixture.era();
    cell.kind = static_cast<std::uint32_t>(kind);
    cell.id = kIdOfS;
    cell.intervals = intervals;
    cell.slots[0].sequence = 1;
  }
  reinterpret_cast<LaneHeader*>(fixture.memory_)->changes += 1;
}

constexpr const char* kLongArray =
    "type=array range_min=0 range_max=1000 base_interval=1 scale=lin";

TEST(LanesFormerTest, CellsThatOverlapAreAFaultAndCountForNothing) {
  LanesFixture fixture(kLongArray);
  fixture.make_lane();
  fill(fixture, CellKind::kArrayLin, fixture.shapes_[fixture.slot()].intervals);
  fixture.read("data");
  EXPECT_GE(fixture.own("lane_bad"), LaneFile::kBadMax);
  EXPECT_TRUE(fixture.has_error(
      "this is not what a feeder writes: there are more cells than the file has room for: read "
      "2097344, allowed 2097152, era 0"));
}

// A cell in which no slot counts is looked at a thousand times, so faults cost more than cells.
TEST(LanesFormerTest, ALookEndsWithTheFaultThatClosesTheFile) {
  LanesFixture fixture("type=value mode=increments");
  fixture.make_lane();
  fill(fixture, CellKind::kIncrements, 0);
  for (std::uint32_t thread = 0; thread < 1000; ++thread) {
    const std::uint32_t at =
        kLaneHeapAt + 256 * 1024 + static_cast<std::uint32_t>(sizeof(LaneCell)) * thread;
    reinterpret_cast<LaneCell*>(fixture.memory_ + at)->slots[0].sequence = 0;
  }
  fixture.read("data");
  EXPECT_EQ(fixture.own("lane_bad"), LaneFile::kBadMax);
}

// Some are known, and others have come between them.
TEST(LanesFormerTest, CellsBetweenKnownOnesAreComparedToo) {
  LanesFixture fixture("type=value mode=increments");
  fixture.make_lane();
  fill(fixture, CellKind::kIncrements, 0);
  auto* const entries = reinterpret_cast<LaneEntry*>(fixture.memory_ + kLaneEntriesAt);
  std::vector<std::uint64_t> indexes;
  for (std::uint32_t thread = 0; thread < 1000; ++thread) {
    indexes.push_back(entries[thread].index);
    const auto at = kLaneHeapAt + 256 * 1024 + sizeof(LaneCell) * thread;
    auto& slot = reinterpret_cast<LaneCell*>(fixture.memory_ + at)->slots[0];
    slot.samples = slot.values[kTotalAt] = 1;
    if (thread % 3 != 0) entries[thread].index = 0;
  }
  reinterpret_cast<LaneHeader*>(fixture.memory_)->changes += 1;
  EXPECT_EQ(fixture.read("data"), "s 334\n");
  for (std::uint32_t thread = 0; thread < 1000; ++thread) entries[thread].index = indexes[thread];
  reinterpret_cast<LaneHeader*>(fixture.memory_)->changes += 1;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(fixture.read("data"), "s 1000\n");
  // The last one has fewer than before.
  const auto last = kLaneHeapAt + 256 * 1024 + sizeof(LaneCell) * 999;
  reinterpret_cast<LaneCell*>(fixture.memory_ + last)->slots[0].values[kTotalAt] = 0;
  EXPECT_EQ(fixture.read("data"), "s 1000\n");
  EXPECT_EQ(fixture.own("lane_bad"), 1u);
}

// To add them up takes as long as to read cells.
TEST(LanesFormerTest, ReadingsOfCellsThatNoIndexNamesCount) {
  LanesFixture fixture("type=value mode=increments");
  const auto made =
      fixture.lanes_->make(LanesFixture::sender(), kLaneBytesMin, fixture.clock_.now());
  ASSERT_TRUE(made);
  fixture.memory_ = static_cast<char*>(map_lane(made.value().file->fd(), kLaneBytesMin));
  ASSERT_NE(fixture.memory_, MAP_FAILED);
  fill(fixture, CellKind::kIncrements, 0);
  const CellKey key{.number = fixture.number_,
                    .id = kIdOfS,
                    .era = fixture.era(),
                    .form = {.kind = CellKind::kIncrements}};
  CellPlaces places;
  for (const std::size_t named : {std::size_t{1000}, std::size_t{0}}) {
    CellSums sums;
    CellBudget budget;
    const std::size_t read = add_up_all(*made.value().file, key, places, sums, budget, CellParty{});
    EXPECT_EQ(places.at.size(), named);
    EXPECT_EQ(read, 1000u);
    reinterpret_cast<LaneHeader*>(fixture.memory_)->changes += 1;
    for (std::size_t i = 0; i < kLaneEntries; ++i) {
      reinterpret_cast<LaneEntry*>(fixture.memory_ + kLaneEntriesAt)[i].thread = 0;
    }
  }
}

// Threads that have had no sample since.
TEST(LanesFormerTest, CellsOfAnEarlierDefinitionAreNoLongerThanTheyAre) {
  LanesFixture fixture("type=value mode=increments");
  fixture.make_lane();
  fill(fixture, CellKind::kIncrements, 0);
  fixture.read("data");
  fixture.define(kLongArray);
  reinterpret_cast<LaneHeader*>(fixture.memory_)->changes += 1;
  fixture.read("data");
  EXPECT_EQ(fixture.own("lane_bad"), 0u);
}

// A feeder of long life, whose statistic users remove again and again.
TEST(LanesFormerTest, CellsOfStatisticsThatAreGoneTakeNoRoom) {
  LanesFixture fixture("type=value mode=increments");
  fixture.make_lane();
  auto* const entries = reinterpret_cast<LaneEntry*>(fixture.memory_ + kLaneEntriesAt);
  for (std::uint32_t thread = 0; thread < 16; ++thread) {
    const std::uint32_t index = kLaneHeapAt + 4096 + 64 * thread;
    reinterpret_cast<std::atomic<std::uint32_t>*>(fixture.memory_ + index)[kIdOfS] =
        kLaneHeapAt + 8192 + 256 * thread;
    entries[1 + thread].thread = 2 + thread;
    entries[1 + thread].index = std::uint64_t{16} << 32 | index;
  }
  for (int i = 0; i < 1000; ++i) {
    CellWriter(fixture.begin_cell()).add(1, 1);
    ASSERT_EQ(fixture.read("data"), "s 1\n");
    ASSERT_TRUE(fixture.execute("remove web/s"));
    fixture.number_ =
        fixture.execute("create web/s on=1 type=value mode=increments").value().number;
    ASSERT_TRUE(fixture.bind());
  }
  EXPECT_EQ(fixture.own("lane_bad"), 0u);
}

}  // namespace
}  // namespace tallyfs
