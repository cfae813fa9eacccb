#include "core/lane/cell_reader.h"

#include <algorithm>

#include "core/base/saturating.h"

namespace tallyfs {
namespace {

// While a thread writes all the time, a slot is stable for two samples, and a total that is written
// in place for one. None of 500,000 reads of each kind needed more than 17 tries, or 40 in a build
// without optimization.
constexpr int kSlotTriesMax = 1000;
// The tries for a total that differs each time, as it may for a slow reader. After them the number
// of samples lags behind the total by more than one.
constexpr int kTotalTriesMax = 100;
// Counts of an array that is written all the time may be newer than their sum.
constexpr int kCountsTriesMax = 16;

// A slot, as it was at one moment.
struct Slot {
  std::uint64_t sequence = 0;
  std::uint64_t samples = 0;
  std::uint64_t outside = 0;
  std::array<std::uint64_t, 5> values{};

  Int128 sum() const {
    return static_cast<Int128>((UInt128{values[kSumAt + 1]} << 64) | values[kSumAt]);
  }
};

std::uint64_t newest_sequence(const LaneCell& cell) {
  return std::max(cell.slots[0].sequence.load(std::memory_order_acquire),
                  cell.slots[1].sequence.load(std::memory_order_acquire));
}

LaneFault newest_slot(const LaneCell& cell, Slot& slot) {
  LaneFault fault = LaneFault::kNone;
  for (int i = 0; i < kSlotTriesMax; ++i) {
    const std::uint64_t first = cell.slots[0].sequence.load(std::memory_order_acquire);
    const std::uint64_t second = cell.slots[1].sequence.load(std::memory_order_acquire);
    const CellSlot& from = cell.slots[first > second ? 0 : 1];
    slot.sequence = std::max(first, second);
    // One is valid at any moment, but not both were looked at in the same one.
    fault = slot.sequence == 0 ? LaneFault::kCellSlots : LaneFault::kCellRestless;
    if (slot.sequence == 0) continue;
    for (std::size_t k = 0; k < slot.values.size(); ++k) {
      slot.values[k] = from.values[k].load(std::memory_order_relaxed);
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    slot.samples = from.samples.load(std::memory_order_relaxed);
    slot.outside = from.outside.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    // A cell of increments may be written in place: then its total is another one.
    const std::uint64_t before = slot.values[kTotalAt];
    slot.values[kTotalAt] = from.values[kTotalAt].load(std::memory_order_relaxed);
    if (slot.values[kTotalAt] != before && i < kTotalTriesMax) continue;
    if (from.sequence.load(std::memory_order_relaxed) == slot.sequence) return LaneFault::kNone;
  }
  return fault;
}

// The slot and the counts of one moment, if the writer leaves time for it. Of a process that was
// killed behind its commit the latest count stands in the slot alone.
LaneFault read_array(const LaneCell& cell, Slot& slot, std::vector<std::uint64_t>& counts) {
  const auto* const words = reinterpret_cast<const std::atomic<std::uint64_t>*>(&cell + 1);
  for (int i = 0; i < kCountsTriesMax; ++i) {
    const LaneFault torn = newest_slot(cell, slot);
    if (torn != LaneFault::kNone) return torn;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      counts[k] = words[k].load(std::memory_order_relaxed);
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (newest_sequence(cell) == slot.sequence) break;
  }
  return LaneFault::kNone;
}

// ---- checks

LaneFinding fault(LaneFault what, std::uint64_t read, std::uint64_t allowed) {
  return {.what = what, .read = read, .allowed = allowed};
}

// Finds an average of X that no X can have, as Summary::load() does.
LaneFinding check_range(const CellSums& one) {
  constexpr UInt128 kAverageMax = UInt128{1} << 63;
  const auto bits = static_cast<UInt128>(one.sum);
  const UInt128 magnitude = one.sum < 0 ? ~bits + 1 : bits;
  const auto low = static_cast<std::uint64_t>(magnitude);
  if (one.number == 0) return one.sum == 0 ? LaneFinding() : fault(LaneFault::kCellSum, low, 0);
  if (one.min > one.max) {
    return fault(LaneFault::kCellOrder, static_cast<std::uint64_t>(one.min),
                 static_cast<std::uint64_t>(one.max));
  }
  if (magnitude / one.number <= kAverageMax) return {};
  return fault(LaneFault::kCellAverage, static_cast<std::uint64_t>(magnitude >> 64), one.number);
}

LaneFinding interpret_latest(const Slot& slot, std::vector<std::uint64_t>& counts) {
  const std::uint64_t latest = slot.values[kFlagsAt] >> 32;
  if (latest >= counts.size()) return fault(LaneFault::kCellInterval, latest, counts.size());
  counts[latest] = std::max(counts[latest], slot.values[kLatestAt]);
  return {};
}

LaneFinding interpret(const Slot& slot, CellKind kind, CellSums& one) {
  one.samples = slot.samples;
  one.outside = slot.outside;
  if (slot.outside > slot.samples) {
    return fault(LaneFault::kCellOutside, slot.outside, slot.samples);
  }
  switch (kind) {
    case CellKind::kIncrements:
      one.number = slot.values[kTotalAt];
      return {};
    case CellKind::kRange:
      one.sum = slot.sum();
      one.number = slot.values[kNumberAt];
      one.min = static_cast<std::int64_t>(slot.values[kMinAt]);
      one.max = static_cast<std::int64_t>(slot.values[kMaxAt]);
      return check_range(one);
    case CellKind::kProducts:
    case CellKind::kArrayLin:
    case CellKind::kArrayLog2:
      one.sum = slot.sum();
      one.has_negative = (slot.values[kFlagsAt] & kHasNegative) != 0 || one.sum < 0;
      return kind == CellKind::kProducts ? LaneFinding() : interpret_latest(slot, one.counts);
    case CellKind::kNone:
      break;
  }
  return {};
}

// Finds counts that fell. The sum, the smallest and the greatest X may fall.
LaneFinding compare(const CellSums& one, const CellSums& former) {
  if (one.samples < former.samples) {
    return fault(LaneFault::kSamplesFell, one.samples, former.samples);
  }
  if (one.outside < former.outside) {
    return fault(LaneFault::kOutsideFell, one.outside, former.outside);
  }
  if (one.number < former.number) return fault(LaneFault::kNumberFell, one.number, former.number);
  for (std::size_t i = 0; i < std::min(one.counts.size(), former.counts.size()); ++i) {
    if (one.counts[i] < former.counts[i]) {
      return fault(LaneFault::kIntervalFell, one.counts[i], former.counts[i]);
    }
  }
  return {};
}

bool is_of(const LaneCell& cell, const CellKey& key) {
  return cell.number.load(std::memory_order_relaxed) == key.number &&
         cell.id.load(std::memory_order_relaxed) == key.id &&
         cell.kind.load(std::memory_order_relaxed) == static_cast<std::uint32_t>(key.form.kind) &&
         cell.intervals.load(std::memory_order_relaxed) == key.form.intervals;
}

bool is_place(std::span<const std::byte> file, std::uint64_t at) {
  return at >= kLaneHeapAt && at % alignof(LaneCell) == 0 && at <= file.size() &&
         file.size() - at >= sizeof(LaneCell);
}

// Called after the words were read. If the cell was given to another statistic meanwhile, they are
// of two eras, or of two statistics whose eras have the same number. The number is stored before
// the era.
bool is_still_of(const LaneCell& cell, const CellKey& key) {
  std::atomic_thread_fence(std::memory_order_acquire);
  return cell.era.load(std::memory_order_acquire) == key.era && is_of(cell, key);
}

}  // namespace

bool CellSums::add(const CellSums& other) {
  bool saturated = add_saturating(samples, other.samples);
  saturated |= add_saturating(outside, other.outside);
  saturated |= add_saturating(number, other.number);
  saturated |= add_saturating(sum, other.sum);
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  has_negative |= other.has_negative;
  if (counts.size() < other.counts.size()) counts.resize(other.counts.size());
  for (std::size_t i = 0; i < other.counts.size(); ++i) {
    saturated |= add_saturating(counts[i], other.counts[i]);
  }
  return saturated;
}

bool is_cell_of(std::span<const std::byte> file, std::uint64_t at, const CellKey& key) {
  if (!is_place(file, at) || key.era == 0) return false;
  const LaneCell& cell = *reinterpret_cast<const LaneCell*>(file.data() + at);
  return cell.era.load(std::memory_order_acquire) == key.era && is_of(cell, key);
}

CellRead read_cell(std::span<const std::byte> file, std::uint64_t at, const CellKey& key,
                   const CellSums* former, CellSums& sums, LaneFinding& finding) {
  const auto bad = [&](LaneFinding found) {
    sums = {};
    finding = found;
    finding.at = at;
    finding.era = key.era;
    return CellRead::kBad;
  };
  if (!is_place(file, at)) return bad(fault(LaneFault::kCellPlace, at, file.size()));
  if (!is_cell_of(file, at, key)) return CellRead::kVoid;
  const LaneCell& cell = *reinterpret_cast<const LaneCell*>(file.data() + at);
  // A smaller one, of an earlier definition, may be the last thing in the file.
  if (file.size() - at < cell_bytes(key.form.intervals)) {
    return bad(fault(LaneFault::kCellPlace, at, file.size() - cell_bytes(key.form.intervals)));
  }
  sums.counts.resize(key.form.intervals);
  Slot slot;
  const LaneFault torn =
      sums.counts.empty() ? newest_slot(cell, slot) : read_array(cell, slot, sums.counts);
  if (!is_still_of(cell, key)) {
    sums = {};
    return CellRead::kVoid;
  }
  if (torn != LaneFault::kNone) return bad(fault(torn, slot.sequence, newest_sequence(cell)));
  LaneFinding found = interpret(slot, key.form.kind, sums);
  if (found.what == LaneFault::kNone && former) found = compare(sums, *former);
  if (found.what != LaneFault::kNone) return bad(found);
  return CellRead::kRead;
}

}  // namespace tallyfs
