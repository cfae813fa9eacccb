// How many samples threads have left in shared memory, in cells and in rings, and how far the
// daemon has come with them.
//
// The sums may be read by any thread. What ends with a daemon is booked under the Client's lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "feeders/client/cell_file.h"
#include "feeders/client/thread_buffers.h"

namespace tallyfs {

class LaneProgress {
 public:
  LaneProgress(const CellFiles& files, const ThreadBuffers& buffers)
      : files_(files), buffers_(buffers) {}

  // ---- any thread

  // Samples that were put into rings and not returned to a buffer, and those of them that a daemon
  // has read. While a daemon confirms, or another one follows, a part may be missing.
  struct InRings {
    std::uint64_t sent = 0;
    std::uint64_t confirmed = 0;
  };
  InRings in_rings() const;
  // Samples that were counted in cells of daemons that ended without reading them.
  std::uint64_t lost_in_cells() const { return lost_in_cells_.load(); }

  // ---- rings, under the Client's lock

  // How far threads were with their rings.
  struct RingHeads {
    std::uint32_t generation = 0;
    std::vector<std::uint64_t> heads;
  };
  RingHeads ring_heads() const;
  // The daemon has read all before the heads. True also for rings of another daemon.
  bool are_read(const RingHeads& rings) const;
  // A record of an earlier daemon's ring is in a buffer now.
  void count_returned() { returned_.fetch_add(1); }
  std::uint64_t returned() const { return returned_.load(); }
  // The counts of a file that is to be freed, which the caller has hidden from other threads.
  void book_rings(const CellFile& file, const LaneTails& tails);

  // ---- cells, under the Client's lock

  enum class CellsEnd { kNone, kRead, kUnread };
  // The daemon has ended. Records whether it had read the cells.
  void end_daemon(CellsEnd end);
  // Once no thread can count for the daemon that has ended, and none does for the next one yet.
  // Returns how many more samples are lost.
  std::uint64_t book_cells();

  // In a forked child, which counts its own samples.
  void reset_in_child();

 private:
  const CellFiles& files_;
  const ThreadBuffers& buffers_;
  std::atomic<std::uint64_t> read_earlier_{0};  // out of rings of earlier daemons
  std::atomic<std::uint64_t> returned_{0};
  std::atomic<std::uint64_t> lost_in_cells_{0};
  std::uint64_t counted_for_earlier_ = 0;  // in cells of daemons that have ended
  CellsEnd cells_end_ = CellsEnd::kNone;   // of the last daemon; not booked yet
};

}  // namespace tallyfs
