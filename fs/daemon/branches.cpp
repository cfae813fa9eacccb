#include "fs/daemon/branches.h"

#include "fs/daemon/group_members.h"
#include "fs/daemon/kernel_feeder/tracefs_access.h"
#include "fs/daemon/possible_cpus.h"
#include "program/log.h"

namespace tallyfs {

std::size_t Branches::switches(std::size_t statistics) {
  return statistics + stats3::StatsBranch::kSwitches + tracing::TracingBranch::kSwitches;
}

Branches::Branches(const Dependencies& dependencies, std::size_t statistics_max, Timestamp now) {
  Tree& tree = dependencies.tree;
  Ledger& ledger = dependencies.ledger;
  const uid_t owner = dependencies.owner;
  const unsigned cpus = count_possible_cpus();
  SwitchLayout layout(dependencies.switches);
  const auto with_switches = [&](std::size_t switches) {
    return BranchDependencies{.switches = layout.take(switches),
                              .processes = &dependencies.processes,
                              .errors = dependencies.errors.get(),
                              .daemon = dependencies.facts};
  };
  BranchDependencies fed = with_switches(statistics_max);
  fed.shapes = dependencies.shapes;
  if (dependencies.writers) {
    fed.is_writer = [group = *dependencies.writers](const Sender& sender) {
      return is_member(sender, group);
    };
  }
  statistics_ =
      std::make_unique<statistics::StatisticsBranch>(tree, ledger, owner, now, std::move(fed));
  statistics_->enter_metrics(dependencies.metrics, now);
  stats_ = std::make_unique<stats3::StatsBranch>(tree, ledger, owner, now,
                                                 with_switches(stats3::StatsBranch::kSwitches));
  const NodeId tracing =
      tree.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(), now);
  latencies_ = std::make_unique<latency_hist::LatencyBranch>(
      tree, tracing, ledger,
      latency_hist::LatencyBranch::Options{.cpus = cpus,
                                           .owner = owner,
                                           .source = dependencies.feeder,
                                           .warn = log_warning,
                                           .epoch = dependencies.facts.epoch},
      now);
  // Filled in later: of a nested initializer GCC believes that it may be destroyed half made.
  tracing::TracingBranch::Options options;
  options.tracing.owner = owner;
  options.tracing.cpus = cpus;
  options.tracing.error_log = dependencies.errors;
  options.tracing.clock = &dependencies.clock;
  options.tracing.counters = &statistics_->counters();
  options.tracing.processes = &process_names_;
  options.dependencies = with_switches(tracing::TracingBranch::kSwitches);
  options.kernel = dependencies.feeder;
  options.tracing.probes = dependencies.feeder;
  options.tracing.probe_targets = kernel_probes();
  tracing_ = std::make_unique<tracing::TracingBranch>(tree, tracing, ledger, options, now);
  all_ = {statistics_.get(), stats_.get(), latencies_.get(), tracing_.get()};
}

}  // namespace tallyfs
