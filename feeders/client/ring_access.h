// The rare half of putting samples into rings: how a thread gets its ring, and room in it.
//
// Thread-safe and signal-safe: the owner of the buffer calls each function inside it. make_room()
// blocks for ClientSettings::wait_max at most.
#pragma once

#include <cstdint>

#include "feeders/client/cell_file.h"
#include "feeders/client/delivery.h"

namespace tallyfs {

enum class RingRoom {
  kThere,
  kDropped,    // there was none, and the sample is dropped and counted
  kElsewhere,  // the ring's daemon is gone, and the sample goes another way
};

class RingAccess {
 public:
  struct Dependencies {
    const ClientSettings& settings;
    CellFiles& cell_files;
    Link& link;
    UpkeepSignals& upkeep;
    Delivery& delivery;
  };
  explicit RingAccess(const Dependencies& dependencies) : its_(dependencies) {}

  // False: samples of the statistic go another way, for now.
  [[gnu::cold]] bool prepare(ThreadBuffer& buffer, FedStatistic& statistic);
  // Looks how far the daemon has read, rings the doorbell, and waits, as it is due.
  [[gnu::cold]] RingRoom make_room(ThreadBuffer& buffer, FedStatistic& statistic);

 private:
  RingRoom wait_for_room(ThreadBuffer& buffer, std::uint32_t generation);
  bool ring_doorbell(ThreadBuffer& buffer);

  const Dependencies its_;
};

}  // namespace tallyfs
