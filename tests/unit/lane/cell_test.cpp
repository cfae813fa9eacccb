// Cells, as threads write and the daemon reads them. Longer than most: each kind and each fault.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/lane/cell_reader.h"
#include "core/lane/cell_writer.h"
#include "tests/unit/wire/golden.h"

namespace tallyfs {
namespace {

constexpr std::uint64_t kNumber = 7;
constexpr std::uint32_t kId = 3;
constexpr std::uint32_t kEra = 5;

// A lane file of which there is one cell, at the beginning of the heap.
class CellFixture {
 public:
  explicit CellFixture(const CellForm& form) : form_(form) {
    memory_.resize((kLaneHeapAt + cell_bytes(kCellIntervalsMax)) / sizeof(Line));
    writer().begin(kNumber, kId, kEra, form);
  }

  CellWriter writer() { return CellWriter(cell()); }
  LaneCell& cell() { return *reinterpret_cast<LaneCell*>(bytes() + kLaneHeapAt); }
  char* bytes() { return reinterpret_cast<char*>(memory_.data()); }
  std::size_t size() const { return memory_.size() * sizeof(Line); }
  CellKey key() const { return {.number = kNumber, .id = kId, .era = kEra, .form = form_}; }
  CellRead read(CellSums& sums) { return read(sums, key()); }
  CellRead read(CellSums& sums, const CellKey& key, std::uint64_t at = kLaneHeapAt) {
    return read(sums, key, nullptr, at);
  }
  CellRead read(CellSums& sums, const CellKey& key, const CellSums* former,
                std::uint64_t at = kLaneHeapAt) {
    const auto* const begin = reinterpret_cast<const std::byte*>(bytes());
    return read_cell({begin, size()}, at, key, former, sums, finding_);
  }
  // That of the last read() of something bad.
  LaneFault fault() const { return finding_.what; }
  const LaneFinding& finding() const { return finding_; }
  CellSums sums() {
    CellSums sums;
    EXPECT_EQ(read(sums), CellRead::kRead);
    return sums;
  }

 private:
  struct alignas(64) Line {
    char bytes[64] = {};
  };
  const CellForm form_;
  std::vector<Line> memory_;
  LaneFinding finding_;
};

CellForm form(CellKind kind) {
  const bool is_array = kind == CellKind::kArrayLin || kind == CellKind::kArrayLog2;
  return {.kind = kind,
          .intervals = is_array ? 12u : 0u,
          .range_min = -10,
          .range_max = 90,
          .base_interval = is_array ? 10u : 0u};
}

TEST(CellTest, CountsIncrementsInRange) {
  CellFixture fixture(form(CellKind::kIncrements));
  fixture.writer().add(1, 5);
  fixture.writer().add(90, 2);
  fixture.writer().add(91, 100);
  const CellSums sums = fixture.sums();
  EXPECT_EQ(sums.number, 7u);
  EXPECT_EQ(sums.samples, 3u);
  EXPECT_EQ(sums.outside, 1u);
}

TEST(CellTest, SumsProductsExactly) {
  CellFixture fixture(
      {.kind = CellKind::kProducts, .range_min = INT64_MIN, .range_max = INT64_MAX});
  fixture.writer().add(INT64_MIN, UINT64_MAX);
  fixture.writer().add(INT64_MAX, UINT64_MAX);
  const CellSums sums = fixture.sums();
  EXPECT_EQ(sums.sum, -static_cast<Int128>(UINT64_MAX));
  EXPECT_TRUE(sums.has_negative);
}

TEST(CellTest, KeepsTheExtremesOfARange) {
  CellFixture fixture(form(CellKind::kRange));
  const CellSums none = fixture.sums();
  EXPECT_GT(none.min, none.max);
  fixture.writer().add(-11, 1);  // out of range
  for (const std::int64_t x : {3, -10, 90, 4}) fixture.writer().add(x, 2);
  const CellSums sums = fixture.sums();
  EXPECT_EQ(sums.min, -10);
  EXPECT_EQ(sums.max, 90);
  EXPECT_EQ(sums.number, 8u);
  EXPECT_EQ(sums.sum, 2 * (3 - 10 + 90 + 4));
  EXPECT_EQ(sums.outside, 1u);
}

TEST(CellTest, CountsTheIntervalsOfAnArray) {
  CellFixture fixture(form(CellKind::kArrayLin));
  for (const std::int64_t x : {-11, -10, -9, 0, 1, 90, 91, 5000}) fixture.writer().add(x, 1);
  const CellSums sums = fixture.sums();
  EXPECT_EQ(sums.counts, (std::vector<std::uint64_t>{2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2}));
  EXPECT_EQ(sums.outside, 3u);
  EXPECT_EQ(sums.sum, -11 - 10 - 9 + 0 + 1 + 90 + 91 + 5000);
  EXPECT_TRUE(sums.has_negative);
}

TEST(CellTest, ManyAtOnceAreAsOneByOne) {
  struct Xy {
    std::int64_t x;
    std::uint64_t y;
  };
  std::mt19937_64 random(20261123);
  for (const CellKind kind : {CellKind::kIncrements, CellKind::kProducts, CellKind::kRange,
                              CellKind::kArrayLin, CellKind::kArrayLog2}) {
    CellFixture many(form(kind));
    CellFixture single(form(kind));
    for (int round = 0; round < 20; ++round) {
      std::vector<Xy> samples(random() % 70);
      for (Xy& each : samples) {
        each = {static_cast<std::int64_t>(random() % 120) - 20, random() % 3 << random() % 64};
        single.writer().add(each.x, each.y);
      }
      many.writer().add_all(samples);
      const CellSums wanted = single.sums();
      const CellSums sums = many.sums();
      EXPECT_EQ(sums.samples, wanted.samples);
      EXPECT_EQ(sums.outside, wanted.outside);
      EXPECT_EQ(sums.number, wanted.number);
      EXPECT_EQ(sums.sum, wanted.sum);
      EXPECT_EQ(sums.min, wanted.min);
      EXPECT_EQ(sums.max, wanted.max);
      EXPECT_EQ(sums.has_negative, wanted.has_negative);
      EXPECT_EQ(sums.counts, wanted.counts);
    }
  }
}

TEST(CellTest, SaturatesAsTheDaemonDoes) {
  CellFixture fixture(form(CellKind::kIncrements));
  fixture.writer().add(0, UINT64_MAX);
  fixture.writer().add(0, 1);
  EXPECT_EQ(fixture.sums().number, UINT64_MAX);
}

TEST(CellTest, CountsForItsStatisticAndEraOnly) {
  CellFixture fixture(form(CellKind::kRange));
  fixture.writer().add(1, 1);
  CellSums sums;
  for (auto change : std::vector<void (*)(CellKey&)>{
           [](CellKey& key) { key.number += 1; }, [](CellKey& key) { key.id += 1; },
           [](CellKey& key) { key.era += 1; }, [](CellKey& key) { key.era = 0; },
           [](CellKey& key) { key.form.kind = CellKind::kProducts; }}) {
    CellKey key = fixture.key();
    change(key);
    EXPECT_EQ(fixture.read(sums, key), CellRead::kVoid);
  }
  EXPECT_EQ(sums.samples, 0u);
  fixture.writer().begin(kNumber, kId, kEra + 1, form(CellKind::kRange));
  CellKey key = fixture.key();
  key.era += 1;
  EXPECT_EQ(fixture.read(sums, key), CellRead::kRead);
  EXPECT_EQ(sums.samples, 0u);
}

// Between the commit and the interval's own word.
TEST(CellTest, HasTheSampleThatWasCommittedBeforeAKill) {
  CellFixture fixture(form(CellKind::kArrayLin));
  fixture.writer().add(5, 1);
  fixture.writer().add(5, 1);
  auto* const counts = reinterpret_cast<std::atomic<std::uint64_t>*>(&fixture.cell() + 1);
  counts[2] = 1;
  EXPECT_EQ(fixture.sums().counts[2], 2u);
}

// The next thread goes on with other intervals.
TEST(CellTest, HasTheSampleThatWasCommittedBeforeItsThreadEnded) {
  CellFixture fixture(form(CellKind::kArrayLin));
  fixture.writer().add(5, 1);
  fixture.writer().add(5, 1);
  auto* const counts = reinterpret_cast<std::atomic<std::uint64_t>*>(&fixture.cell() + 1);
  counts[2] = 1;
  const CellSums before = fixture.sums();
  fixture.writer().finish_add();
  fixture.writer().add(95, 1);
  CellSums sums;
  EXPECT_EQ(fixture.read(sums, fixture.key(), &before), CellRead::kRead);
  EXPECT_EQ(sums.counts[2], 2u);
}

TEST(CellTest, GoesOnBehindACommitThatWasLeftHalfway) {
  for (const bool is_torn : {false, true}) {
    CellFixture fixture(form(CellKind::kIncrements));
    fixture.writer().add(91, 1);
    fixture.writer().add(1, 5);
    // As begin_commit() and the first stores of a call whose thread ended in a handler.
    LaneCell& cell = fixture.cell();
    CellSlot& torn = cell.slots[++cell.next % 2];
    if (is_torn) torn.sequence = 0;
    torn.values[kTotalAt] = 99;
    fixture.writer().finish_add();
    fixture.writer().add(1, 7);
    fixture.writer().add(91, 1);
    const CellSums sums = fixture.sums();
    EXPECT_EQ(sums.number, 12u);
    EXPECT_EQ(sums.samples, 4u);
    EXPECT_EQ(sums.outside, 2u);
  }
}

TEST(CellTest, RefusesPlacesOutsideOfTheHeap) {
  CellFixture fixture(form(CellKind::kRange));
  CellSums sums;
  for (const std::uint64_t at :
       {std::uint64_t{0}, std::uint64_t{kLaneHeapAt - 64}, std::uint64_t{kLaneHeapAt + 8},
        std::uint64_t{fixture.size()}, std::uint64_t{fixture.size() - 64}, UINT64_MAX - 63}) {
    EXPECT_EQ(fixture.read(sums, fixture.key(), at), CellRead::kBad) << at;
    EXPECT_EQ(fixture.fault(), LaneFault::kCellPlace);
  }
}

// It is void as long as it is of that definition. What is of another one must have room.
TEST(CellTest, OfAnEarlierDefinitionMayBeTheLastInTheFile) {
  CellFixture fixture(form(CellKind::kRange));
  const std::uint64_t at = fixture.size() - sizeof(LaneCell);
  auto& last = *reinterpret_cast<LaneCell*>(fixture.bytes() + at);
  CellWriter(last).begin(kNumber, kId, kEra, form(CellKind::kRange));
  CellKey key = fixture.key();
  key.era += 1;
  key.form = form(CellKind::kArrayLin);
  CellSums sums;
  EXPECT_EQ(fixture.read(sums, key, at), CellRead::kVoid);
  last.era = key.era;
  last.kind = static_cast<std::uint32_t>(key.form.kind);
  last.intervals = key.form.intervals;
  EXPECT_EQ(fixture.read(sums, key, at), CellRead::kBad);
  EXPECT_EQ(fixture.fault(), LaneFault::kCellPlace);
}

TEST(CellTest, RefusesWhatNoFeederWrites) {
  CellFixture fixture(form(CellKind::kArrayLin));
  fixture.writer().add(5, 1);
  fixture.cell().slots[1].values[kFlagsAt] = std::uint64_t{12} << 32;  // no such interval
  CellSums sums;
  EXPECT_EQ(fixture.read(sums), CellRead::kBad);
  EXPECT_EQ(fixture.fault(), LaneFault::kCellInterval);
  CellFixture range(form(CellKind::kRange));
  range.writer().add(5, 1);
  range.cell().slots[1].values[kSumAt + 1] = 1;  // an average above all X
  EXPECT_EQ(range.read(sums), CellRead::kBad);
  EXPECT_EQ(range.fault(), LaneFault::kCellAverage);
  range.cell().slots[1].outside = 2;
  EXPECT_EQ(range.read(sums), CellRead::kBad);
  EXPECT_EQ(range.fault(), LaneFault::kCellOutside);
  for (CellSlot& slot : range.cell().slots) slot.sequence = 0;
  EXPECT_EQ(range.read(sums), CellRead::kBad);
  EXPECT_EQ(range.fault(), LaneFault::kCellSlots);
  EXPECT_EQ(sums.samples, 0u);
}

// Counts of one era only grow. What shows the fault is said.
TEST(CellTest, RefusesCountsThatAreLowerThanBefore) {
  const auto fall = [](CellKind kind, void (*change)(LaneCell&), LaneFault wanted) {
    CellFixture fixture(form(kind));
    for (const std::int64_t x : {5, 5, 91, 7}) fixture.writer().add(x, 3);
    const CellSums before = fixture.sums();
    change(fixture.cell());
    CellSums sums;
    EXPECT_EQ(fixture.read(sums, fixture.key(), &before), CellRead::kBad);
    EXPECT_EQ(fixture.fault(), wanted);
    EXPECT_EQ(fixture.finding().era, kEra);
    EXPECT_EQ(fixture.finding().at, kLaneHeapAt);
    EXPECT_LT(fixture.finding().read, fixture.finding().allowed);
    EXPECT_EQ(sums.samples, 0u);
    // A new server has nothing to compare with.
    EXPECT_EQ(fixture.read(sums), CellRead::kRead);
  };
  fall(
      CellKind::kRange,
      [](LaneCell& cell) {
        for (auto& s : cell.slots) s.samples = 3;
      },
      LaneFault::kSamplesFell);
  fall(
      CellKind::kRange,
      [](LaneCell& cell) {
        for (auto& s : cell.slots) s.outside = 0;
      },
      LaneFault::kOutsideFell);
  fall(
      CellKind::kRange,
      [](LaneCell& cell) {
        for (auto& s : cell.slots) s.values[kNumberAt] = 8;
      },
      LaneFault::kNumberFell);
  fall(
      CellKind::kIncrements,
      [](LaneCell& cell) {
        for (auto& s : cell.slots) s.values[kTotalAt] = 8;
      },
      LaneFault::kNumberFell);
  fall(
      CellKind::kArrayLin,
      [](LaneCell& cell) { reinterpret_cast<std::atomic<std::uint64_t>*>(&cell + 1)[11] = 2; },
      LaneFault::kIntervalFell);
}

TEST(CellTest, TakesSumsAndExtremesThatAreLowerThanBefore) {
  CellFixture fixture(form(CellKind::kRange));
  fixture.writer().add(5, 1);
  const CellSums before = fixture.sums();
  fixture.writer().add(-9, 1);
  CellSums sums;
  EXPECT_EQ(fixture.read(sums, fixture.key(), &before), CellRead::kRead);
  EXPECT_EQ(sums.sum, -4);
  EXPECT_EQ(sums.min, -9);
}

// What is read while a thread writes is of one moment, and no sample is missing afterwards. Samples
// of increments follow their sum, which is written in place.
TEST(CellTest, IsReadWhileAThreadWritesConcurrently) {
  constexpr std::uint64_t kSamples = 200'000;
  for (const CellKind kind : {CellKind::kIncrements, CellKind::kProducts, CellKind::kRange}) {
    CellFixture fixture(form(kind));
    std::thread thread([&] {
      for (std::uint64_t i = 0; i < kSamples; ++i) fixture.writer().add(7, 1);
    });
    std::uint64_t last = 0;
    while (last < kSamples) {
      CellSums sums;
      const CellRead done = fixture.read(sums);
      // A reader that is put off may find no moment in which a slot stays.
      if (done != CellRead::kRead && kind != CellKind::kIncrements) continue;
      ASSERT_EQ(done, CellRead::kRead);
      EXPECT_GE(sums.samples, last);
      last = sums.samples;
      if (kind != CellKind::kIncrements) {
        ASSERT_EQ(sums.sum, static_cast<Int128>(7 * last));
      }
      if (kind == CellKind::kRange) {
        ASSERT_EQ(sums.number, last);
      }
      if (kind == CellKind::kIncrements) {
        ASSERT_GE(sums.number, last);
        ASSERT_LE(sums.number, last + 1);
      }
    }
    thread.join();
  }
}

TEST(CellTest, ReadsAnArrayWhileAThreadWritesConcurrently) {
  constexpr std::uint64_t kSamples = 200'000;
  CellFixture fixture(form(CellKind::kArrayLog2));
  std::thread thread([&] {
    for (std::uint64_t i = 0; i < kSamples; ++i) {
      fixture.writer().add(static_cast<std::int64_t>(i % 100), 1);
    }
  });
  std::uint64_t last = 0;
  while (last < kSamples) {
    CellSums sums;
    if (fixture.read(sums) != CellRead::kRead) continue;
    EXPECT_GE(sums.samples, last);
    last = sums.samples;
    std::uint64_t counted = 0;
    for (const std::uint64_t count : sums.counts) counted += count;
    EXPECT_GE(counted, last);
  }
  thread.join();
}

// Before that of how many samples there were.
TEST(CellTest, HasTheIncrementOfWhichTheSumWasStoredBeforeAKill) {
  CellFixture fixture({.kind = CellKind::kIncrements, .range_max = 9});
  fixture.writer().add(10, 1);  // out of range: of the other slot
  for (int i = 0; i < 3; ++i) fixture.writer().add(5, 7);
  EXPECT_EQ(fixture.sums().samples, 4u);
  EXPECT_EQ(fixture.sums().outside, 1u);
  fixture.cell().slots[1].samples = 3;
  EXPECT_EQ(fixture.sums().number, 21u);
  fixture.writer().add(10, 1);
  EXPECT_EQ(fixture.sums().number, 21u);
  EXPECT_EQ(fixture.sums().outside, 2u);
}

// As a feeder may write it that has one slot, and those in C++ what is in range.
TEST(CellTest, ReadsACellThatWasWrittenInPlace) {
  const auto blocks = wire::golden_datagrams(TALLY_SOURCE_DIR "/core/lane/FORMAT.md");
  const std::string& bytes = blocks.at("increments");
  ASSERT_EQ(bytes.size(), sizeof(LaneCell));
  const CellForm increments{.kind = CellKind::kIncrements};
  CellFixture fixture(increments);
  std::memcpy(fixture.bytes() + kLaneHeapAt, bytes.data(), bytes.size());
  CellSums sums;
  const CellKey key{.number = 0x500000007, .id = 9, .era = 3, .form = increments};
  EXPECT_EQ(fixture.read(sums, key), CellRead::kRead);
  EXPECT_EQ(sums.number, 42u);
  EXPECT_EQ(sums.samples, 2u);
}

// Any bytes, which change while they are read.
TEST(CellTest, SurvivesAnyBytesConcurrently) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  for (const CellKind kind : {CellKind::kIncrements, CellKind::kRange, CellKind::kArrayLog2}) {
    CellFixture fixture(form(kind));
    std::atomic<bool> ends{false};
    std::thread thread([&] {
      std::mt19937_64 random(seed);
      auto* const words = reinterpret_cast<std::atomic<std::uint64_t>*>(&fixture.cell());
      while (!ends) {
        const std::size_t at = 5 + random() % (sizeof(LaneCell) / 8 + 12 - 5);
        words[at].store(random() >> random() % 64, std::memory_order_relaxed);
      }
    });
    for (int i = 0; i < 20'000; ++i) {
      CellSums sums;
      const CellRead done = fixture.read(sums);
      if (done != CellRead::kRead) {
        ASSERT_EQ(sums.samples, 0u);
      }
      if (done == CellRead::kRead && kind == CellKind::kRange && sums.number != 0) {
        ASSERT_LE(sums.min, sums.max);
      }
    }
    ends = true;
    thread.join();
  }
}

}  // namespace
}  // namespace tallyfs
