// The files of one directory of latency_hist; the same for every source of its Set.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/call_context.h"
#include "core/latency_hist/engine/set.h"
#include "core/tree/tree.h"

namespace tallyfs::latency_hist {

// A Set and its owner's lock. The files of a directory share it; it lives until the last
// of them is closed.
class LockedLatencies {
 public:
  virtual ~LockedLatencies() = default;
  // Called from any thread; use is called once, under the lock, and must not block.
  virtual void with(const std::function<void(Set&)>& use) = 0;
  // The functions of File with these names.
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

// Enters the files CPUn, max_latency-CPUn unless kNone, reset, summary, data, data.json, top,
// maxima and snapshot_reset. name: the begin of each line of `data`. epoch: the daemon's.
struct Names {
  std::string name;
  std::uint64_t epoch = 0;
};
void enter_latency_files(Tree& tree, NodeId directory, const Names& names,
                         const std::shared_ptr<LockedLatencies>& latencies, MaxLatencyFiles files,
                         Timestamp now);

}  // namespace tallyfs::latency_hist
