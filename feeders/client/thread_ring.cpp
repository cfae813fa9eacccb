#include "feeders/client/thread_ring.h"

namespace tallyfs {

bool ThreadRing::prepare(ThreadCells& cells, const CellFiles& files,
                         const FedStatistic& statistic) {
  if (statistic.id >= kLaneIdsMax) return false;
  if (statistic.ring_era.load(std::memory_order_relaxed) == FedStatistic::kNoRing) return false;
  if (!cells.enter(files)) return false;
  // These tails are of this file: earlier tails are unmapped before the file exists.
  const LaneTails* const tails = files.tails();
  if (!tails) return false;
  if (cells.generation() == generation_) return true;
  CellFile& file = cells.file();
  LaneEntry& entry = cells.entry();
  const std::uint64_t ring = file.allocate_ring();
  if (ring == 0) return false;
  tails_ = tails;
  tail_ = &tails->tails[file.number_of(&entry)];
  lane_ = file.number();
  waited_at_ = UINT64_MAX;
  writer_ = RingWriter({.begin = file.base() + (ring & UINT32_MAX),
                        .bytes = static_cast<std::uint32_t>(ring >> 32),
                        .entry = &entry,
                        .tail = tail_});
  entry.ring.store(ring, std::memory_order_release);
  file.count_change();
  generation_ = cells.generation();
  return true;
}

}  // namespace tallyfs
