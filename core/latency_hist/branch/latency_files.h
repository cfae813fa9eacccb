// The files of one directory of latency_hist; the same for every source of its LatencySet.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/call_context.h"
#include "core/latency_hist/engine/latency_set.h"
#include "core/tree/tree.h"

namespace tallyfs {

// A LatencySet behind its owner's lock. The files of a directory share it; it lives until the last
// of them is closed.
class LockedLatencies {
 public:
  virtual ~LockedLatencies() = default;
  // Called from any thread; use is called once, under the lock, and must not block.
  virtual void with(const std::function<void(LatencySet&)>& use) = 0;
  // As File's.
  virtual void opened(const CallContext&) {}
  virtual bool waits() const { return false; }
  // Whether latencies are measured now, and how often that was changed.
  struct Switched {
    bool is_on = true;
    std::uint64_t changes = 0;
  };
  virtual Switched switched() const { return {}; }
};

enum class MaxLatencyFiles { kNone, kPerCpu };

// Enters CPUn, max_latency-CPUn if there shall be some, reset, summary, data, data.json, top,
// maxima and snapshot_reset. name: what the lines of `data` begin with. epoch: of the daemon.
struct LatencyNames {
  std::string name;
  std::uint64_t epoch = 0;
};
void enter_latency_files(Tree& tree, NodeId directory, const LatencyNames& names,
                         const std::shared_ptr<LockedLatencies>& latencies, MaxLatencyFiles files,
                         Moment now);

}  // namespace tallyfs
