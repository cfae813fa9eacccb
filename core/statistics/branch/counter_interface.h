// The daemon's counters as an ordinary interface, statistics/tallyfs, fed like all others but from
// within. There is no second mechanism for them.
//
// Thread-safe through the Interface's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "core/branch/daemon_counters.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs::statistics {

class CounterInterface final : public DaemonCounters {
 public:
  // Creates the statistics in an interface that has none. Its owner alone feeds it.
  CounterInterface(std::shared_ptr<Interface> interface, Timestamp now);

  void record(DaemonCounter what, std::int64_t x, std::uint64_t count, Timestamp now) override;
  // To be entered into the tree.
  const std::shared_ptr<Interface>& interface() const { return interface_; }
  // Takes over the previous server's counters. kNoSpace: names those that had no room and start
  // from 0.
  Result<void> resume_from(Interface& before, Timestamp now);

 private:
  std::shared_ptr<Interface> interface_;  // shared with its files in the tree
  std::vector<Statistic*> statistics_;    // by DaemonCounter::index()
};

}  // namespace tallyfs::statistics
