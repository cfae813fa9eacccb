// The files of one directory of latency_hist: whatever fills its LatencySet, they are the same.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/base/call_context.h"
#include "core/latency/latency_set.h"
#include "core/tree/tree.h"

namespace tallyfs {

// A LatencySet behind somebody's lock. The files of a directory share it; it lives until the last
// of them is closed.
class LockedLatencies {
 public:
  virtual ~LockedLatencies() = default;
  // Called from any thread; use is called once, under the lock, and must not block.
  virtual void with(const std::function<void(LatencySet&)>& use) = 0;
  // As File's.
  virtual void opened(const CallContext&) {}
  virtual bool waits() const { return false; }
};

enum class MaxLatencyFiles { kNone, kPerCpu };

// Enters CPUn, max_latency-CPUn if there shall be some, reset, summary, data, top, maxima and
// snapshot_reset. name: what the lines of `data` begin with.
void enter_latency_files(Tree& tree, NodeId directory, const std::string& name,
                         const std::shared_ptr<LockedLatencies>& latencies, MaxLatencyFiles files,
                         Moment now);

}  // namespace tallyfs
