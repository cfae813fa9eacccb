// Cells in lane files as readers see them, and how lanes are bounded. Longer than most: one stand
// plays all of it.
#include "feeders/intake/lanes.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

#include "lanes_fixture.h"

namespace tallyfs {
namespace {

TEST(LanesTest, WhatCellsHoldIsRead) {
  LanesFixture fixture("type=range");
  EXPECT_EQ(fixture.on() & kRouteMask, kRouteCell);
  fixture.make_lane();
  LaneCell& cell = fixture.begin_cell();
  CellWriter(cell).add(3, 1);
  CellWriter(cell).add(5, 3);
  EXPECT_EQ(fixture.read("data"), "s 4 3 4.500 5\n");
  EXPECT_NE(fixture.read("data.json").find("\"samples\":2"), std::string::npos);
  fixture.end_feeder();
  EXPECT_EQ(fixture.read("data"), "s 4 3 4.500 5\n");
  EXPECT_NE(fixture.read("data.json").find("\"samples\":2"), std::string::npos);
  CellWriter(cell).add(5, 3);  // of a descriptor that another process still has
  EXPECT_EQ(fixture.read("data"), "s 4 3 4.500 5\n");
}

TEST(LanesTest, ABindingThatIsRepeatedCountsOnce) {
  LanesFixture fixture("");
  fixture.make_lane();
  EXPECT_TRUE(fixture.bind());
  CellWriter(fixture.begin_cell()).add(3, 7);
  EXPECT_EQ(fixture.read("data"), "s 7\n");
  fixture.end_feeder();
  EXPECT_EQ(fixture.read("data"), "s 7\n");
}

// The next server binds all of them.
TEST(LanesTest, ABindingThatIsRepeatedIsHandedOnOnce) {
  LanesFixture fixture("");
  fixture.make_lane();
  const auto handed_on = [&] {
    SavedObjects objects;
    TransferredFds descriptors;
    fixture.lanes_->save_for_successor(objects, descriptors);
    return objects.at(2).bytes.size();
  };
  const std::size_t before = handed_on();
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(fixture.bind());
  EXPECT_EQ(handed_on(), before);
}

// An id is bound anew when its statistic was removed and has come back.
TEST(LanesTest, TheNextServerKnowsTheLatestBindingOfAnId) {
  LanesFixture fixture("");
  fixture.make_lane();
  ASSERT_TRUE(fixture.execute("remove web/s"));
  fixture.number_ = fixture.execute("create web/s on=1").value().number;
  ASSERT_TRUE(fixture.bind());
  fixture.hand_over();
  CellWriter(fixture.begin_cell()).add(3, 7);
  EXPECT_EQ(fixture.read("data"), "s 7\n");
  fixture.end_feeder();
  EXPECT_EQ(fixture.read("data"), "s 7\n");
}

TEST(LanesTest, AResetBeginsAnEra) {
  LanesFixture fixture("");
  fixture.make_lane();
  LaneCell& cell = fixture.begin_cell();
  CellWriter(cell).add(3, 7);
  const std::uint32_t before = fixture.era();
  fixture.define("data=reset");
  EXPECT_NE(fixture.era(), before);
  CellWriter(cell).add(3, 7);
  EXPECT_EQ(fixture.read("data"), "s 0\n");
  EXPECT_NE(fixture.read("data.json").find("\"samples\":1"), std::string::npos);
  CellWriter(fixture.begin_cell()).add(3, 2);
  EXPECT_EQ(fixture.read("data"), "s 2\n");
}

TEST(LanesTest, AChangeThatKeepsTheDataKeepsThoseOfCells) {
  LanesFixture fixture("type=range");
  fixture.make_lane();
  CellWriter(fixture.begin_cell()).add(3, 7);
  fixture.define("range_max=10");
  EXPECT_EQ(fixture.read("data"), "s 7 3 3.000 3\n");
  CellWriter(fixture.begin_cell()).add(11, 1);
  CellWriter(fixture.begin_cell()).add(4, 1);
  EXPECT_EQ(fixture.read("data"), "s 8 3 3.125 4\n");
}

TEST(LanesTest, ViewsAndOtherTypesTakeRings) {
  LanesFixture fixture("type=array base_interval=1 scale=lin range_min=0 range_max=1022");
  EXPECT_EQ(fixture.on() & kRouteMask, kRouteCell);
  fixture.define("range_max=1023");
  EXPECT_EQ(fixture.on(), kSwitchOn | kRouteRing | kRouteNeedsY);
  fixture.define("type=list entries_max=9 base=16");
  EXPECT_EQ(fixture.on(), kSwitchOn | kRouteRing | kRouteNeedsY);
  fixture.define("type=last");
  EXPECT_EQ(fixture.on(), kSwitchOn | kRouteRing | kRouteNeedsTime);
  for (const char* const timed :
       {"type=raw entries_max=9", "type=history entries_max=9 mode=range period=1"}) {
    fixture.define(timed);
    EXPECT_EQ(fixture.on(), kSwitchOn | kRouteRing | kRouteNeedsY | kRouteNeedsTime) << timed;
  }
  fixture.define("type=value mode=products");
  EXPECT_EQ(fixture.on() & kRouteMask, kRouteCell);
  ASSERT_TRUE(fixture.execute("create web/v of=s"));
  EXPECT_EQ(fixture.on(), kSwitchOn | kRouteRing | kRouteNeedsY);
  fixture.define("on=0");
  ASSERT_TRUE(fixture.execute("define web name=v type=last"));
  EXPECT_EQ(fixture.on(), kSwitchOn | kRouteRing | kRouteNeedsTime);
  fixture.define("on=1");
  ASSERT_TRUE(fixture.execute("remove web/v"));
  EXPECT_EQ(fixture.on() & kRouteMask, kRouteCell);
  fixture.define("on=0");
  EXPECT_EQ(fixture.on(), 0u);
}

TEST(LanesTest, AnEndKeepsWhatCellsHold) {
  LanesFixture fixture("");
  fixture.make_lane();
  CellWriter(fixture.begin_cell()).add(3, 7);
  fixture.statistics_->end_cells(fixture.clock_.now());
  EXPECT_EQ(fixture.on(), kSwitchOn);
  EXPECT_EQ(fixture.read("data"), "s 7\n");
}

// Nothing reads what is counted from then on but in the socket.
TEST(LanesTest, AnEndOpensNoCellsAgain) {
  LanesFixture fixture("");
  fixture.make_lane();
  ASSERT_TRUE(fixture.execute("create web/v of=s"));
  fixture.statistics_->end_cells(fixture.clock_.now());
  for (const char* const line : {"define web name=s data=reset", "define web name=s type=range",
                                 "remove web/v", "define web name=s type=list entries_max=9",
                                 "define web name=s on=0", "define web name=s on=1"}) {
    ASSERT_TRUE(fixture.execute(line)) << line;
    EXPECT_EQ(fixture.on() & kRouteMask, kRouteSocket) << line;
  }
  const auto made = fixture.execute("create web/t on=1");
  EXPECT_EQ(fixture.switches_[static_cast<std::uint32_t>(made.value().number)].on, kSwitchOn);
}

TEST(LanesTest, TheNextServerReadsTheSameCells) {
  const char* const array = "type=array base_interval=1 scale=log2 range_min=0 range_max=99";
  for (const char* const text : {"", "type=value mode=products", "type=range", array}) {
    SCOPED_TRACE(text);
    LanesFixture fixture(text), other(text);
    for (LanesFixture* const each : {&fixture, &other}) {
      each->make_lane();
      LaneCell& cell = each->begin_cell();
      CellWriter(cell).add(3, 7);
      if (each == &fixture) each->read("data");  // as of some read before
      CellWriter(cell).add(5, 1);
      const auto before = std::pair(each->on(), each->era());
      if (each == &fixture) {
        each->hand_over();
        each->hand_over();
      }
      EXPECT_EQ(std::pair(each->on(), each->era()), before);
      CellWriter(cell).add(200, 2);
    }
    EXPECT_EQ(fixture.read("data"), other.read("data"));
    EXPECT_EQ(fixture.read("definition"), other.read("definition"));
    EXPECT_NE(fixture.read("data.json").find("\"samples\":3"), std::string::npos);
    for (LanesFixture* const each : {&fixture, &other}) each->end_feeder();
    EXPECT_EQ(fixture.read("data"), other.read("data"));
    EXPECT_NE(fixture.read("data.json").find("\"samples\":3"), std::string::npos);
    fixture.hand_over();
    EXPECT_EQ(fixture.read("data"), other.read("data"));
  }
}

TEST(LanesTest, ANewDefinitionInTheNextServerBeginsAnew) {
  LanesFixture fixture("");
  fixture.make_lane();
  LaneCell& cell = fixture.begin_cell();
  CellWriter(cell).add(3, 7);
  fixture.hand_over();
  const std::uint32_t before = fixture.era();
  fixture.define("data=reset");
  EXPECT_NE(fixture.era(), before);
  CellWriter(cell).add(3, 7);
  EXPECT_EQ(fixture.read("data"), "s 0\n");
  CellWriter(fixture.begin_cell()).add(3, 2);
  EXPECT_EQ(fixture.read("data"), "s 2\n");
}

TEST(LanesTest, RefusesOtherSizesProcessesAndIds) {
  LanesFixture fixture("");
  const Timestamp now = fixture.clock_.now();
  EXPECT_FALSE(fixture.lanes_->make(LanesFixture::sender(), kLaneBytesMin - 4096, now));
  EXPECT_FALSE(fixture.lanes_->make(LanesFixture::sender(), kLaneBytesMin + 1, now));
  EXPECT_FALSE(fixture.lanes_->make(LanesFixture::sender(), UINT64_MAX, now));
  fixture.make_lane();
  const wire::Binding good{
      .sequence = 1, .id = 1, .lane = fixture.lane_, .number = fixture.number_};
  EXPECT_FALSE(fixture.lanes_->bind({0, kFeeder + 1}, good));
  wire::Binding bad = good;
  bad.id = kLaneIdsMax;
  EXPECT_FALSE(fixture.lanes_->bind(LanesFixture::sender(), bad));
  bad = good;
  bad.number += std::uint64_t{1} << 32;
  EXPECT_FALSE(fixture.lanes_->bind(LanesFixture::sender(), bad));
}

TEST(LanesTest, AUserGetsNoLargeLane) {
  LanesFixture fixture("");
  const auto make = [&](uid_t uid, std::uint64_t bytes) {
    return fixture.lanes_->make({uid, kFeeder}, bytes, fixture.clock_.now());
  };
  EXPECT_TRUE(make(1000, LaneFile::kUsersBytesMax));
  const auto refused = make(1000, LaneFile::kUsersBytesMax + 4096);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(refused.error().reason, "a lane of uid 1000 has 4194304 bytes at most");
  EXPECT_TRUE(make(0, kLaneBytesMax));
  EXPECT_TRUE(make(kLaneOwner, kLaneBytesMax));
}

TEST(LanesTest, AUidHasABoundOfLanes) {
  LanesFixture fixture("");
  const Sender other{1234, kFeeder};
  for (std::size_t i = 0; i < Lanes::kLanesOfUidMax; ++i) {
    ASSERT_TRUE(fixture.lanes_->make(other, kLaneBytesMin, fixture.clock_.now()));
  }
  EXPECT_FALSE(fixture.lanes_->make(other, kLaneBytesMin, fixture.clock_.now()));
  fixture.end_feeder();
  EXPECT_LT(fixture.ledger_->total().bytes, kLaneBytesMin);
  EXPECT_TRUE(fixture.lanes_->make(other, kLaneBytesMin, fixture.clock_.now()));
}

// A page that its feeder punches again and again would be a page fault at each look.
TEST(LanesTest, OnlyALaneThatCanHaveNoHolesPunchedIsRead) {
  LanesFixture fixture("");
  const auto made =
      fixture.lanes_->make(LanesFixture::sender(), kLaneBytesMin, fixture.clock_.now());
  ASSERT_TRUE(made);
  const int fd = made.value().file->fd();
  fixture.lane_ = made.value().number;
  EXPECT_EQ(fixture.bind().error().code, ErrorCode::kInvalid);
  EXPECT_EQ(fixture.lanes_->tails(LanesFixture::sender(), fixture.lane_).error().code,
            ErrorCode::kInvalid);
  fixture.memory_ = static_cast<char*>(map_lane(fd, kLaneBytesMin));
  ASSERT_NE(fixture.memory_, MAP_FAILED);
  EXPECT_TRUE(fixture.bind());
  EXPECT_TRUE(fixture.lanes_->tails(LanesFixture::sender(), fixture.lane_));
  CellWriter(fixture.begin_cell()).add(3, 7);
  EXPECT_EQ(::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, kLaneBytesMin), -1);
  EXPECT_EQ(::madvise(fixture.memory_, kLaneBytesMin, MADV_REMOVE), -1);
  EXPECT_EQ(fixture.read("data"), "s 7\n");
}

CellBudget looks_for_root(std::size_t looks) { return {CellBudget::Of::kAll, {0, 0}, {looks, 0}}; }

TEST(LanesTest, LooksForCellsAreBounded) {
  LanesFixture fixture("");
  const auto made =
      fixture.lanes_->make(LanesFixture::sender(), kLaneBytesMin, fixture.clock_.now());
  ASSERT_TRUE(made);
  const LaneFile& file = *made.value().file;
  CellPlaces places;
  CellSums sums;
  const CellKey key{.era = 1};
  const CellParty root{};
  CellBudget none = looks_for_root(0);
  add_up_all(file, key, places, sums, none, root);
  CellBudget one = looks_for_root(1);
  add_up_all(file, key, places, sums, one, root);
  EXPECT_FALSE(one.has_looks_for(root));
  CellBudget two = looks_for_root(1);
  add_up_all(file, key, places, sums, two, root);  // nothing has changed
  EXPECT_TRUE(two.has_looks_for(root));
}

TEST(LanesTest, EntriesAreReadOnceForAllIdsUntilTheyChange) {
  LanesFixture fixture("");
  const auto made =
      fixture.lanes_->make(LanesFixture::sender(), kLaneBytesMin, fixture.clock_.now());
  ASSERT_TRUE(made);
  const auto file = made.value().file;
  void* const mapped = map_lane(file->fd(), kLaneBytesMin);
  ASSERT_NE(mapped, MAP_FAILED);
  fixture.memory_ = static_cast<char*>(mapped);
  fixture.begin_cell();
  auto* const entries = reinterpret_cast<LaneEntry*>(fixture.memory_ + kLaneEntriesAt);
  for (std::size_t i = 1; i < kLaneEntries; ++i) entries[i].thread = 1;
  const CellParty root{};
  const auto looks_of = [&](std::uint32_t id) {
    CellPlaces places;
    CellSums sums;
    CellBudget budget = looks_for_root(1000);
    add_up_all(*file, {.id = id, .era = 1}, places, sums, budget, root);
    std::size_t left = 0;
    for (; budget.has_looks_for(root); ++left) budget.charge_looks(root, 1);
    return 1000 - left;
  };
  EXPECT_EQ(looks_of(kIdOfS), 66u) << "64 reads of entries, one of the index, and the look";
  EXPECT_EQ(looks_of(kIdOfS), 2u);
  EXPECT_EQ(looks_of(kIdOfS + 1), 2u);
  reinterpret_cast<LaneHeader*>(fixture.memory_)->changes += 1;
  EXPECT_EQ(looks_of(kIdOfS), 66u);
}

// Its statistics have their cells in the same files.
TEST(LanesTest, AnOpenLooksForNewPlacesOnceAndACommandEachTime) {
  LanesFixture fixture("");
  const auto made =
      fixture.lanes_->make(LanesFixture::sender(), kLaneBytesMin, fixture.clock_.now());
  ASSERT_TRUE(made);
  const LaneFile& file = *made.value().file;
  void* const mapped = map_lane(file.fd(), kLaneBytesMin);
  ASSERT_NE(mapped, MAP_FAILED);
  fixture.memory_ = static_cast<char*>(mapped);
  auto& header = *reinterpret_cast<LaneHeader*>(fixture.memory_);
  CellPlaces places;
  const auto seen = [&](CellBudget& budget) {
    CellSums sums;
    add_up_all(file, {.id = kIdOfS, .era = 1}, places, sums, budget, CellParty{});
    return places.changes;
  };
  CellBudget early;
  CellBudget open;
  const std::uint64_t before = seen(open);
  header.changes += 1;
  EXPECT_EQ(seen(open), before);
  EXPECT_EQ(seen(early), before) << "what a later open has found will do";
  CellBudget command = CellBudget::for_command();
  EXPECT_EQ(seen(command), before + 1);
  header.changes += 1;
  EXPECT_EQ(seen(command), before + 2);
  CellBudget next;
  header.changes += 1;
  EXPECT_EQ(seen(next), before + 3);
}

// No read came before the feeder ended.
TEST(LanesTest, TheLastLookFindsAllThreads) {
  constexpr std::uint32_t kOtherIndexAt = kLaneHeapAt + 1024;
  constexpr std::uint32_t kOtherCellAt = kLaneHeapAt + 2048;
  LanesFixture fixture("");
  fixture.make_lane();
  CellWriter(fixture.begin_cell()).add(3, 7);
  auto& cell = *reinterpret_cast<LaneCell*>(fixture.memory_ + kOtherCellAt);
  CellWriter(cell).begin(fixture.number_, kIdOfS, fixture.era(),
                         {.kind = CellKind::kIncrements, .range_max = 9});
  CellWriter(cell).add(3, 5);
  auto* const index =
      reinterpret_cast<std::atomic<std::uint32_t>*>(fixture.memory_ + kOtherIndexAt);
  index[kIdOfS] = kOtherCellAt;
  auto& entry = reinterpret_cast<LaneEntry*>(fixture.memory_ + kLaneEntriesAt)[1];
  entry.thread = 2;
  entry.index = std::uint64_t{64} << 32 | kOtherIndexAt;
  fixture.end_feeder();
  EXPECT_EQ(fixture.read("data"), "s 12\n");
}

// As many entries as there may be name one index.
TEST(LanesTest, ACellCountsOnceHoweverManyEntriesNameIt) {
  LanesFixture fixture("");
  fixture.make_lane();
  CellWriter(fixture.begin_cell()).add(3, 7);
  auto* const entries = reinterpret_cast<LaneEntry*>(fixture.memory_ + kLaneEntriesAt);
  for (std::size_t i = 1; i < kLaneEntries; ++i) {
    entries[i].thread = 1;
    entries[i].index = entries[0].index.load();
  }
  EXPECT_EQ(fixture.read("data"), "s 7\n");
  fixture.end_feeder();
  EXPECT_EQ(fixture.read("data"), "s 7\n");
}

// Of the largest lane, with as many ids of one statistic as it has room for cells.
TEST(LanesTest, AnEndReadsEachCellOnceAndGoesOnLater) {
  constexpr std::uint32_t kIds = 4000;
  constexpr std::uint32_t kEntries = 80;
  constexpr std::uint32_t kIndexBytes = kIds * sizeof(std::uint32_t);
  LanesFixture fixture("");
  ASSERT_TRUE(fixture.execute("create web/t on=1"));
  const auto made =
      fixture.lanes_->make(LanesFixture::sender(), kLaneBytesMax, fixture.clock_.now());
  ASSERT_TRUE(made);
  void* const mapped = map_lane(made.value().file->fd(), kLaneBytesMax);
  ASSERT_NE(mapped, MAP_FAILED);
  fixture.lane_ = made.value().number;
  char* const memory = static_cast<char*>(mapped);
  const std::uint32_t cells_at = kLaneHeapAt + (kEntries * kIndexBytes + 63) / 64 * 64;
  for (std::uint32_t thread = 0; thread < kEntries; ++thread) {
    auto& entry = reinterpret_cast<LaneEntry*>(memory + kLaneEntriesAt)[thread];
    const std::uint32_t index_at = kLaneHeapAt + thread * kIndexBytes;
    entry.thread = 1;
    entry.index = std::uint64_t{kIds} << 32 | index_at;
    auto* const index = reinterpret_cast<std::atomic<std::uint32_t>*>(memory + index_at);
    for (std::uint32_t id = 0; id < kIds; ++id) {
      index[id] = cells_at + (thread * kIds + id) * static_cast<std::uint32_t>(sizeof(LaneCell));
      CellWriter cell(*reinterpret_cast<LaneCell*>(memory + index[id]));
      cell.begin(fixture.number_, id, fixture.era(),
                 {.kind = CellKind::kIncrements, .range_max = 9});
      cell.add(1, 1);
    }
  }
  const auto bind = [&](std::uint32_t id, std::uint64_t number) {
    return fixture.lanes_->bind(LanesFixture::sender(),
                                {.sequence = 1, .id = id, .lane = fixture.lane_, .number = number});
  };
  for (std::uint32_t id = 0; id < kIds; ++id) ASSERT_TRUE(bind(id, fixture.number_));
  ASSERT_TRUE(bind(kIds, fixture.execute("attach web/t").value().number));
  const Timestamp now = fixture.clock_.now();
  for (const char* behind : {"the places", "a statistic", "an id"}) {
    EXPECT_FALSE(fixture.lanes_->process_ended(kFeeder, now, now.monotonic)) << behind;
    EXPECT_TRUE(fixture.lanes_->is_ending(kFeeder)) << behind;
  }
  EXPECT_TRUE(fixture.lanes_->process_ended(kFeeder, now, now.monotonic + std::chrono::hours(1)));
  fixture.lanes_->publish_counts(now, fixture.claims_);
  EXPECT_NE(fixture.read_own().find("\ncells_merged 320000\n"), std::string::npos)
      << fixture.read_own();
  EXPECT_EQ(fixture.read("data"), "s 320000\nt 0\n");
  ::munmap(mapped, kLaneBytesMax);
}

// Its indexes are as long as the feeder says.
TEST(LanesTest, AnEndReadsNoFileOfWhichNothingIsBound) {
  LanesFixture fixture("");
  const auto made =
      fixture.lanes_->make(LanesFixture::sender(), kLaneBytesMin, fixture.clock_.now());
  ASSERT_TRUE(made);
  const std::uint32_t thread = 1;
  const std::uint64_t beyond = std::uint64_t{kLaneBytesMin} << 32 | kLaneHeapAt;
  const int fd = made.value().file->fd();
  ASSERT_EQ(::pwrite(fd, &thread, sizeof thread, kLaneEntriesAt), ssize_t{sizeof thread});
  ASSERT_EQ(::pwrite(fd, &beyond, sizeof beyond, kLaneEntriesAt + offsetof(LaneEntry, index)),
            ssize_t{sizeof beyond});
  fixture.end_feeder();
  EXPECT_EQ(fixture.own("lane_bad"), 0u) << "the index was read";
}

// A cell is added to both behind the deadline: it counts where places were not yet looked for.
TEST(LanesTest, AnEndLooksForThePlacesOfOneFileAndGoesOnLater) {
  LanesFixture fixture("");
  struct Feed {
    std::shared_ptr<const LaneFile> file;
    char* memory;
  };
  std::vector<Feed> feeds;
  for (int i = 0; i < 2; ++i) {
    const auto made =
        fixture.lanes_->make(LanesFixture::sender(), kLaneBytesMin, fixture.clock_.now());
    ASSERT_TRUE(made);
    void* const mapped = map_lane(made.value().file->fd(), kLaneBytesMin);
    ASSERT_NE(mapped, MAP_FAILED);
    feeds.push_back({made.value().file, static_cast<char*>(mapped)});
    fixture.lane_ = made.value().number;
    ASSERT_TRUE(fixture.bind());
  }
  const Timestamp now = fixture.clock_.now();
  EXPECT_FALSE(fixture.lanes_->process_ended(kFeeder, now, now.monotonic));
  for (const Feed& each : feeds) {
    fixture.memory_ = each.memory;
    CellWriter(fixture.begin_cell()).add(3, 7);
  }
  fixture.memory_ = nullptr;
  fixture.end_feeder();
  EXPECT_EQ(fixture.read("data"), "s 7\n");
  for (const Feed& each : feeds) ::munmap(each.memory, kLaneBytesMin);
}

// Anything may stand in the file, and change while it is read: no other statistic is touched.
TEST(LanesTest, AHostileFileHarmsItsOwnStatisticOnlyConcurrently) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  LanesFixture fixture("type=array base_interval=1 scale=log2 range_min=0 range_max=1000");
  ASSERT_TRUE(fixture.execute("create web/t on=1"));
  fixture.make_lane();
  std::atomic<bool> ends{false};
  std::thread hostile([&] {
    std::mt19937_64 random(seed);
    while (!ends) {
      fixture.begin_cell();
      for (int i = 0; i < 64; ++i) {
        // Header, the first entries, the index and the cell.
        const std::size_t from = random() % 2 == 0 ? kLaneEntriesAt : kLaneHeapAt;
        const std::size_t at = from + random() % 512 / 8 * 8;
        const std::uint64_t word = random() % 2 == 0 ? random() : random() % kLaneBytesMin;
        reinterpret_cast<std::atomic<std::uint64_t>*>(fixture.memory_ + at)->store(word);
        reinterpret_cast<LaneHeader*>(fixture.memory_)->changes.store(random());
      }
    }
  });
  for (int i = 0; i < 2000; ++i) {
    const std::string text = fixture.read("data");
    ASSERT_NE(text.find("t 0\n"), std::string::npos) << text;
    if (i % 100 == 0) fixture.define("data=reset");
  }
  ends = true;
  hostile.join();
  fixture.lanes_->publish_counts(fixture.clock_.now(), fixture.claims_);
  fixture.end_feeder();
  EXPECT_NE(fixture.read("data").find("t 0\n"), std::string::npos);
}

}  // namespace
}  // namespace tallyfs
