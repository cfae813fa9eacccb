// The parts of the root of the mount that show all interfaces: the file statistics.json and the
// directory metrics/. Called from several threads; the branch's lock is held only while the
// interfaces are listed, each of which is then read under its own lock.
#pragma once

#include "core/base/mutex.h"
#include "core/branch/daemon_facts.h"
#include "core/statistics/branch/registry.h"
#include "core/statistics/exposition/options.h"
#include "core/statistics/interface/cell_looks.h"
#include "core/tree/error_log.h"
#include "core/tree/file.h"

namespace tallyfs::statistics {

// Thread-safe: it takes the lock of the StatisticsBranch, which callers do not have.
class InterfaceList {
 public:
  // Both outlive it.
  InterfaceList(Mutex& mutex, Registry& registry) : mutex_(mutex), registry_(registry) {}

  // In the order of their creation.
  List all() EXCLUDES(mutex_);
  // Rounds of opens that look at the cells of all interfaces. Of opens beside each other, the last
  // one to end decides.
  CellRounds begin_cell_open() EXCLUDES(mutex_);
  void end_cell_open(CellRounds& rounds) EXCLUDES(mutex_);
  // The owner of the interface of that path: 0 if it is gone.
  uid_t uid_of(std::string_view path) const EXCLUDES(mutex_);

 private:
  Mutex& mutex_;
  Registry& registry_ GUARDED_BY(mutex_);
  CellRounds cell_rounds_ GUARDED_BY(mutex_);
};

struct MetricsSettings {
  MetricsOptions options{};
  Audience audience{.permissions = 0400, .readers = true};  // of the files
};

// All that is referred to outlives the files.
std::shared_ptr<File> make_overview_file(InterfaceList& interfaces, const DaemonFacts& daemon,
                                         const Ledger& ledger);

struct MetricsSources {
  Mutex& mutex;  // of the branch
  Registry& registry;
  InterfaceList& interfaces;
  ErrorLog* errors = nullptr;  // nullptr: what is left out is not reported
};
// Enters `metrics/`. Returns its node.
NodeId enter_metrics(Tree& tree, const MetricsSources& sources, const MetricsSettings& settings,
                     Timestamp now);

}  // namespace tallyfs::statistics
