// Signals from threads that add samples to the background thread. Thread-safe and signal-safe.
#pragma once

#include <atomic>

#include "feeders/client/upkeep_sleep.h"

namespace tallyfs {

struct UpkeepSignals {
  UpkeepSleep sleep;
  // A thread holds samples of a statistic that is gone from the tree, or would count some in a
  // cell: a request is due for it.
  std::atomic<bool> wants_requests{false};
  // A thread holds samples of a statistic that is gone, as the page of switches says.
  std::atomic<bool> has_void{false};
  // A doorbell was sent: the daemon may answer.
  std::atomic<bool> has_rung{false};
};

}  // namespace tallyfs
