// The branches of the mount, made in order. Each takes its region of the page of switches and its
// directories in the tree; a further branch is made here and entered into all().
//
// Made and destroyed by the daemon's main thread; the branches themselves are thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/base/ledger.h"
#include "core/branch/branch.h"
#include "core/branch/daemon_facts.h"
#include "core/branch/switch_region.h"
#include "core/latency_hist/branch/latency_branch.h"
#include "core/statistics/branch/statistics_branch.h"
#include "core/stats3/branch/stats_branch.h"
#include "core/tracing/branch/tracing_branch.h"
#include "core/tree/error_log.h"
#include "core/tree/tree.h"
#include "fs/daemon/kernel_feeder/ordered_feeder.h"
#include "fs/daemon/proc_names.h"

namespace tallyfs {

class Branches {
 public:
  // The parts that the branches use. All of them outlive the branches.
  struct Dependencies {
    Tree& tree;
    Ledger& ledger;
    ProcessWatch& processes;
    const Clock& clock;
    const std::shared_ptr<ErrorLog>& errors;  // shared with the tree
    std::span<Switch> switches;               // empty: feeders cannot see which statistics are off
    std::span<Shape> shapes = {};             // empty: feeders have no cells
    OrderedFeeder* feeder = nullptr;          // nullptr: the kernel's events are not read
    DaemonFacts facts = {};
    statistics::MetricsSettings metrics = {};
    uid_t owner = 0;  // may do everything, as root may
    std::optional<gid_t> writers = {};  // --write-group
  };

  // Entries of the page of switches that the branches need. statistics: the most there may be.
  static std::size_t switches(std::size_t statistics);

  Branches(const Dependencies& dependencies, std::size_t statistics_max, Timestamp now);

  std::span<Branch* const> all() const { return all_; }
  statistics::StatisticsBranch& statistics() { return *statistics_; }
  latency_hist::LatencyBranch& latencies() { return *latencies_; }
  tracing::TracingBranch& tracing() { return *tracing_; }

 private:
  const ProcNames process_names_;
  std::unique_ptr<statistics::StatisticsBranch> statistics_;
  std::unique_ptr<stats3::StatsBranch> stats_;
  std::unique_ptr<latency_hist::LatencyBranch> latencies_;
  std::unique_ptr<tracing::TracingBranch> tracing_;
  std::vector<Branch*> all_;
};

}  // namespace tallyfs
