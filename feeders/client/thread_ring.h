// The ring of one thread in the lane file, and of which statistics samples go there by now. Used by
// the owner of a buffer while it is inside, and by the next owner after it.
// No function allocates, locks or waits, so that a signal handler may call them.
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
  // The memory for the era of each id.
  static constexpr std::size_t kNotesBytes = kLaneIdsMax * sizeof(std::uint32_t);

  // notes: so many bytes of zeros, which it uses.
  explicit ThreadRing(std::uint32_t* notes) : eras_(notes) {}

  // Samples of the statistic go into the ring; else prepare() and begin() may see to that.
  bool takes(const FedStatistic& statistic, const CellFiles& files) const {
    return generation_ == files.generation() && statistic.id < kLaneIdsMax &&
           eras_[statistic.id] == statistic.ring_era.load(std::memory_order_relaxed);
  }
  // There is a ring. False: none is to be had.
  bool prepare(ThreadCells& cells, const CellFiles& files, const FedStatistic& statistic);
  // From now on. No sample of the statistic is held elsewhere.
  void begin(const FedStatistic& statistic) {
    const std::uint32_t era = statistic.ring_era.load(std::memory_order_relaxed);
    if (era != FedStatistic::kNoRing) eras_[statistic.id] = era;
  }

  // A sample of the statistic goes another way: begin() comes before the next one.
  void end(const FedStatistic& statistic) {
    const bool may_be_here =
        statistic.ring_era.load(std::memory_order_relaxed) != FedStatistic::kNoRing;
    if (may_be_here && statistic.id < kLaneIdsMax) [[unlikely]]
      eras_[statistic.id] = 0;
  }

  bool has_room() const { return writer_.has_room(kRecordWordsMax); }
  RingWriter::Room look() { return writer_.look(); }
  void forget_bell() { writer_.forget_bell(); }
  // The daemon converts cycles of the machine's counter.
  bool takes_cycles() const { return tails_->takes_cycles.load(std::memory_order_relaxed) != 0; }
  // There must be room.
  void put(const FedStatistic& statistic, std::uint32_t follows, std::int64_t x, std::uint64_t y,
           std::uint64_t time) {
    writer_.put(statistic.id, follows, x, y, time);
  }
  void count_dropped() { writer_.count_dropped(); }
  // How far the daemon is.
  std::uint64_t tail() const { return tail_->position.load(std::memory_order_relaxed); }
  // At this tail a wait was in vain.
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
