// Replays to the next daemon what an earlier one has left in its rings: records go into a buffer,
// and over the socket, before the threads' own samples. Confined to the Client's lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "core/lane/ring_reader.h"
#include "feeders/client/cell_file.h"
#include "feeders/client/delivery.h"
#include "feeders/client/lane_progress.h"
#include "feeders/client/registry.h"

namespace tallyfs {

class RingReplay {
 public:
  using Time = std::chrono::nanoseconds;

  struct Dependencies {
    CellFiles& cell_files;
    ThreadBuffers& buffers;
    SampleTime& time;
    Link& link;
    Delivery& delivery;
    LaneProgress& progress;
    const Registry& registry;
  };
  explicit RingReplay(const Dependencies& dependencies) : its_(dependencies) {}

  // Records of an earlier daemon's rings are not sent yet.
  bool is_pending() const;
  // The daemon is gone. If it has left records, they come before all other samples.
  void expect();
  // Takes records out of the rings of a file that no thread is in. epoch: of the daemon that is
  // connected, 0 before it has answered. False: the file is still needed.
  bool take(const CellFile& file, const LaneTails& tails, std::uint64_t epoch);
  void send(Time now);
  // In a forked child: the records are the parent's.
  void reset_in_child();

 private:
  void read(const CellFile& file, const LaneTails& tails);
  void append(ThreadBuffer& buffer, const RingRecord& record);
  void finish_file(const CellFile& file, const LaneTails& tails);
  void let_others_send();

  // A ring of the earlier daemon's lane file, as far as it is not taken yet.
  struct Rest {
    RingReader ring;
    std::uint64_t head = 0;
  };

  const Dependencies its_;
  std::vector<Rest> rest_;
  bool has_read_ = false;        // rest_ is of the file
  Time others_wait_until_{0};    // zero: nothing was replayed yet
  std::uint64_t sent_then_ = 0;  // when others_wait_until_ was set
};

}  // namespace tallyfs
