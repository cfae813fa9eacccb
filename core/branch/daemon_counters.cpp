#include "core/branch/daemon_counters.h"

namespace tallyfs {

void PendingCounts::publish(DaemonCounters& counters, Timestamp now) {
  if (!has_any_) return;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] != 0) counters.count(DaemonCounter(i), counts_[i], now);
  }
  counts_ = {};
  has_any_ = false;
}

}  // namespace tallyfs
