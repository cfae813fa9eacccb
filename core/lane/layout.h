// The lane file: memory that a feeder's threads count in, and that the daemon reads. The bytes are
// specified in core/lane/FORMAT.md. Each word is an atomic of its own, as two processes use it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/model/shape.h"

namespace tallyfs {

inline constexpr std::uint64_t kLaneMagic = 0x0001'454E'414C'4C54;  // "TLLANE", version 1
inline constexpr std::uint32_t kLaneBytesMin = 2u << 20;
inline constexpr std::uint32_t kLaneBytesMax = 64u << 20;
inline constexpr std::size_t kLaneEntries = 1024;
inline constexpr std::uint32_t kLaneEntriesAt = 4096;
inline constexpr std::uint32_t kLaneIdsMax = 65'536;  // in an index

struct LaneHeader {
  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint64_t> bytes;    // of the file
  std::atomic<std::uint64_t> changes;  // counts up when a thread or the place of a cell is new
};

// One thread.
struct LaneEntry {
  std::atomic<std::uint32_t> thread;  // 0: none yet
  std::uint32_t zero;
  std::atomic<std::uint64_t> index;    // where its index begins, and 2^32 times its ids; 0: none
  std::atomic<std::uint64_t> ring;     // where its ring begins, and 2^32 times its bytes; 0: none
  std::atomic<std::uint64_t> head;     // words that were written into the ring
  std::atomic<std::uint64_t> dropped;  // samples that found no room in it
  std::array<std::uint64_t, 3> spare;
};
static_assert(sizeof(LaneEntry) == 64);

inline constexpr std::uint32_t kLaneHeapAt =
    kLaneEntriesAt + static_cast<std::uint32_t>(kLaneEntries * sizeof(LaneEntry));

// The sums of one statistic in one thread, at one moment: the newer slot of the two counts.
struct CellSlot {
  std::atomic<std::uint64_t> sequence;  // 0: not valid
  std::atomic<std::uint64_t> samples;
  std::atomic<std::uint64_t> outside;                // of the range
  std::array<std::atomic<std::uint64_t>, 5> values;  // by the kind
};

// Which value is what.
inline constexpr std::size_t kTotalAt = 0;   // of increments
inline constexpr std::size_t kSumAt = 0;     // of X * Y, two words, of all others
inline constexpr std::size_t kFlagsAt = 2;   // of products and arrays
inline constexpr std::size_t kLatestAt = 3;  // of arrays: the new count of the latest interval
inline constexpr std::size_t kNumberAt = 2;  // of a range
inline constexpr std::size_t kMinAt = 3;
inline constexpr std::size_t kMaxAt = 4;
inline constexpr std::uint64_t kHasNegative =
    1;  // a flag; above 32 bits stands the latest interval

struct alignas(64) LaneCell {
  std::atomic<std::uint64_t> number;  // of the statistic
  std::atomic<std::uint32_t> era;     // 0: being cleared
  std::atomic<std::uint32_t> kind;
  std::atomic<std::uint32_t> id;
  std::atomic<std::uint32_t> intervals;
  // For the feeder only.
  std::int64_t range_min;
  std::int64_t range_max;
  std::uint64_t base_interval;
  std::uint32_t shift;          // of a base_interval that is a power of two; else kNoShift
  std::uint32_t intervals_max;  // for which there is room
  std::uint64_t next;           // the next sequence

  std::array<CellSlot, 2> slots;

  static constexpr std::uint32_t kNoShift = 64;
};
static_assert(sizeof(LaneCell) == 192 && sizeof(CellSlot) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// ---- rings

// Bytes of a ring: a power of two.
inline constexpr std::uint32_t kRingBytesMin = 64u << 10;
inline constexpr std::uint32_t kRingBytesMax = 1u << 20;

// A set of bits that says which words follow X in a record.
inline constexpr std::uint32_t kRecordY = 1;
inline constexpr std::uint32_t kRecordCycles = 2;  // of the machine's counter
inline constexpr std::uint32_t kRecordNs = 4;      // CLOCK_MONOTONIC
inline constexpr std::uint32_t kRecordWordsMax = 4;

// The first word of a record: id, words, what follows, zeros.
constexpr std::uint64_t record_head(std::uint32_t id, std::uint32_t words, std::uint32_t follows) {
  return id | std::uint64_t{words} << 32 | std::uint64_t{follows} << 40;
}

// How far the daemon is with a ring. Only the daemon writes it.
struct LaneTail {
  std::atomic<std::uint64_t> position;  // words that were taken in
  std::atomic<std::uint64_t> samples;
};

// The page of tails.
struct LaneTails {
  std::atomic<std::uint64_t> takes_cycles;  // 1: records may have cycles of the machine's counter
  std::array<std::uint64_t, 7> spare;
  std::array<LaneTail, kLaneEntries> tails;  // by the number of the entry
};

// The counts of an array's intervals follow its cell.
inline std::size_t cell_bytes(std::uint32_t intervals) {
  const std::size_t bytes = sizeof(LaneCell) + intervals * sizeof(std::uint64_t);
  return (bytes + 63) / 64 * 64;
}

}  // namespace tallyfs
