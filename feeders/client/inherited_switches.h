// The switches of a forked child until its first call. A child that makes none, such as one that
// calls exec(), gets no background thread and no responses of the daemon: all its switches point at
// FedStatistic::kAsleep, so that the first sample of any statistic calls the library.
//
// Any thread may ask are_asleep(); the rest is confined to the Client's lock.
#pragma once

#include <atomic>

#include "feeders/client/registry.h"

namespace tallyfs {

class InheritedSwitches {
 public:
  bool are_asleep() const { return asleep_.load(std::memory_order_acquire); }
  bool may_be_asleep() const { return asleep_.load(std::memory_order_relaxed); }
  // In the child, which counts its own drops.
  void fall_asleep(Registry& registry) {
    registry.for_each_statistic([](FedStatistic& each) {
      each.dropped = 0;
      each.fall_asleep();
    });
    asleep_ = true;
  }
  void restore(Registry& registry) {
    if (!may_be_asleep()) return;
    registry.for_each_statistic([](FedStatistic& each) { each.wake_up(); });
    asleep_.store(false, std::memory_order_release);
  }

 private:
  std::atomic<bool> asleep_{false};
};

}  // namespace tallyfs
