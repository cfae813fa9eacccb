// The ring of one thread in the lane file, and the set of statistics whose samples go there. Used
// by the owner of a buffer while it is inside, and by the next owner after it. No function
// allocates memory of the process, locks or waits, so that a signal handler may call them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/lane/ring_writer.h"
#include "feeders/client/cell_file.h"
#include "feeders/client/fed_statistic.h"
#include "feeders/client/thread_cells.h"

namespace tallyfs {

class ThreadRing {
 public:
  // Bytes for the era of each id.
  static constexpr std::size_t kNotesBytes = kLaneIdsMax * sizeof(std::uint32_t);

  // notes: kNotesBytes of zeros, which outlive the object.
  explicit ThreadRing(std::uint32_t* notes) : eras_(notes) {}

  // True if samples of the statistic go into the ring. If not, the caller may call prepare() and
  // begin().
  bool takes(const FedStatistic& statistic, const CellFiles& files) const {
    return generation_ == files.generation() && statistic.id < kLaneIdsMax &&
           eras_[statistic.id] == statistic.ring_era.load(std::memory_order_relaxed);
  }
  // Ensures that the thread has a ring in the current lane file: allocates one there if it has
  // none. False: there is no room for one, or the statistic's samples must not go into a ring.
  bool prepare(ThreadCells& cells, const CellFiles& files, const FedStatistic& statistic);
  // The statistic's samples go into the ring from now on. None of them may be pending elsewhere.
  // Call after prepare() was true.
  void begin(const FedStatistic& statistic) {
    const std::uint32_t era = statistic.ring_era.load(std::memory_order_relaxed);
    if (era != FedStatistic::kNoRing) eras_[statistic.id] = era;
  }

  // Call when a sample of the statistic is sent by another route: the next one needs begin() again.
  void end(const FedStatistic& statistic) {
    const bool may_be_here =
        statistic.ring_era.load(std::memory_order_relaxed) != FedStatistic::kNoRing;
    if (may_be_here && statistic.id < kLaneIdsMax) [[unlikely]]
      eras_[statistic.id] = 0;
  }

  bool has_room() const { return writer_.has_room(kRecordWordsMax); }
  RingWriter::Room look() { return writer_.look(); }
  void forget_bell() { writer_.forget_bell(); }
  // True if records may have cycles of the machine's counter, which the daemon converts.
  bool takes_cycles() const { return tails_->takes_cycles.load(std::memory_order_relaxed) != 0; }
  // Requires has_room().
  void put(const FedStatistic& statistic, std::uint32_t follows, std::int64_t x, std::uint64_t y,
           std::uint64_t time) {
    writer_.put(statistic.id, follows, x, y, time);
  }
  void count_dropped() { writer_.count_dropped(); }
  // The position up to which the daemon has read.
  std::uint64_t tail() const { return tail_->position.load(std::memory_order_relaxed); }
  // True if a wait for room ended without any while the tail was this one.
  bool has_waited_at(std::uint64_t tail) const { return waited_at_ == tail; }
  void record_wait_at(std::uint64_t tail) { waited_at_ = tail; }

  std::uint64_t lane_number() const { return lane_; }

 private:
  std::uint32_t generation_ = UINT32_MAX;  // of no file
  std::uint32_t* const eras_;              // by the ids of statistics
  RingWriter writer_;
  const LaneTails* tails_ = nullptr;
  const LaneTail* tail_ = nullptr;
  std::uint64_t lane_ = 0;
  std::uint64_t waited_at_ = UINT64_MAX;
};

}  // namespace tallyfs
