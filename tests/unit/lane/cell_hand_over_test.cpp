// A cell that goes from thread to thread, from era to era and from statistic to statistic while it
// is read: nothing of that is a fault, and within an era no count falls.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "core/lane/cell_reader.h"
#include "core/lane/cell_writer.h"

namespace tallyfs {
namespace {

constexpr std::uint64_t kHandedNumber = 7;
constexpr std::uint32_t kHandedId = 3;

struct alignas(64) Line {
  char bytes[64] = {};
};

class Fixture {
 public:
  LaneCell& cell() { return *reinterpret_cast<LaneCell*>(bytes() + kLaneHeapAt); }
  char* bytes() { return reinterpret_cast<char*>(memory_.data()); }
  std::span<const std::byte> file() {
    return {reinterpret_cast<const std::byte*>(bytes()), memory_.size() * sizeof(Line)};
  }

 private:
  std::vector<Line> memory_ =
      std::vector<Line>((kLaneHeapAt + cell_bytes(kCellIntervalsMax)) / sizeof(Line));
};

CellForm form_of(CellKind kind) {
  const bool is_array = kind == CellKind::kArrayLin || kind == CellKind::kArrayLog2;
  return {.kind = kind,
          .intervals = is_array ? 1000u : 0u,
          .range_min = -10,
          .range_max = 9970,
          .base_interval = is_array ? 10u : 0u};
}

// Adds in one thread after the other: each takes over the cell of the one before.
void add_by_threads(LaneCell& cell, std::uint64_t seed, int threads, int samples) {
  for (int i = 0; i < threads; ++i) {
    std::thread([&] {
      std::mt19937_64 random(seed + static_cast<std::uint64_t>(i));
      CellWriter(cell).finish_add();
      for (int n = 0; n < samples; ++n) {
        CellWriter(cell).add(static_cast<std::int64_t>(random() % 10'100) - 100, random() % 3);
      }
    }).join();
  }
}

// What a reader makes of the cell all the while, as LaneFile does.
class Reader {
 public:
  Reader(Fixture& fixture, CellForm form, const std::atomic<std::uint32_t>& era)
      : fixture_(fixture), form_(form), era_(era) {}

  void read() {
    const std::uint32_t era = era_.load();
    if (std::exchange(former_era_, era) != era) has_former_ = false;
    CellSums sums;
    LaneFinding finding;
    const CellKey key{.number = kHandedNumber, .id = kHandedId, .era = era, .form = form_};
    const CellRead done = read_cell(fixture_.file(), kLaneHeapAt, key,
                                    has_former_ ? &former_ : nullptr, sums, finding);
    reads += 1;
    if (done == CellRead::kBad && finding.what == LaneFault::kCellRestless) return;
    ASSERT_NE(done, CellRead::kBad) << reason_of(finding.what) << ": read " << finding.read
                                    << ", allowed " << finding.allowed << ", era " << era;
    if (done != CellRead::kRead) return;
    has_former_ = true;
    former_ = std::move(sums);
  }

  std::uint64_t reads = 0;

 private:
  Fixture& fixture_;
  const CellForm form_;
  const std::atomic<std::uint32_t>& era_;
  std::uint32_t former_era_ = 0;
  bool has_former_ = false;
  CellSums former_;
};

// Another statistic may have had an era of the same number: what it counts is not read as ours.
// Its Y are such that its words are no words of ours.
TEST(CellHandOverTest, IsNeverReadAsAFaultConcurrently) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(seed);
  for (const CellKind kind : {CellKind::kIncrements, CellKind::kProducts, CellKind::kRange,
                              CellKind::kArrayLin, CellKind::kArrayLog2}) {
    Fixture fixture;
    std::atomic<std::uint32_t> era{1};
    std::atomic<bool> ends{false};
    const CellForm form = form_of(kind);
    CellWriter(fixture.cell()).begin(kHandedNumber, kHandedId, 1, form);
    std::thread writer([&] {
      const CellForm other =
          form_of(kind == CellKind::kRange ? CellKind::kArrayLin : CellKind::kRange);
      for (std::uint32_t now = 1; now < 300; ++now) {
        add_by_threads(fixture.cell(), seed + now, 2, 300);
        for (int i = 0; i < 20; ++i) {
          CellWriter(fixture.cell()).begin(kHandedNumber + 1, kHandedId, now, other);
          CellWriter(fixture.cell()).add(5, std::uint64_t{1} << 45);
        }
        era = now + 1;
        CellWriter(fixture.cell()).begin(kHandedNumber, kHandedId, now + 1, form);
      }
      ends = true;
    });
    Reader reader(fixture, form, era);
    while (!ends && !testing::Test::HasFatalFailure()) reader.read();
    writer.join();
    EXPECT_GT(reader.reads, 1000u);
  }
}

}  // namespace
}  // namespace tallyfs
