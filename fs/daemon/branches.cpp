#include "fs/daemon/branches.h"

#include "fs/daemon/group_members.h"
#include "fs/daemon/kernel_feeder/tracefs_access.h"
#include "fs/daemon/possible_cpus.h"
#include "program/log.h"

namespace tallyfs {

std::size_t Branches::switches(std::size_t statistics) {
  return statistics + stats3::StatsBranch::kSwitches + tracing::TracingBranch::kSwitches;
}

Branches::Branches(const Parts& parts, std::size_t statistics_max, Moment now) {
  Tree& tree = parts.tree;
  Ledger& ledger = parts.ledger;
  const uid_t owner = parts.owner;
  const unsigned cpus = count_possible_cpus();
  SwitchLayout layout(parts.switches);
  const auto ports = [&](std::size_t switches) {
    return Ports{.switches = layout.take(switches),
                 .processes = &parts.processes,
                 .errors = parts.errors.get(),
                 .daemon = parts.facts};
  };
  Ports fed = ports(statistics_max);
  fed.shapes = parts.shapes;
  if (parts.writers) {
    fed.is_writer = [group = *parts.writers](const Sender& sender) {
      return is_member(sender, group);
    };
  }
  statistics_ =
      std::make_unique<statistics::StatisticsBranch>(tree, ledger, owner, now, std::move(fed));
  statistics_->enter_metrics(parts.metrics, now);
  stats_ = std::make_unique<stats3::StatsBranch>(tree, ledger, owner, now,
                                                 ports(stats3::StatsBranch::kSwitches));
  const NodeId tracing =
      tree.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(), now);
  latencies_ = std::make_unique<latency_hist::LatencyBranch>(
      tree, tracing, ledger,
      latency_hist::LatencyBranch::Options{.cpus = cpus,
                                           .owner = owner,
                                           .source = parts.feeder,
                                           .warn = log_warning,
                                           .epoch = parts.facts.epoch},
      now);
  // Filled in later: of a nested initializer GCC believes that it may be destroyed half made.
  tracing::TracingBranch::Options options;
  options.tracing.owner = owner;
  options.tracing.cpus = cpus;
  options.tracing.error_log = parts.errors;
  options.tracing.clock = &parts.clock;
  options.tracing.counters = &statistics_->counters();
  options.tracing.processes = &process_names_;
  options.ports = ports(tracing::TracingBranch::kSwitches);
  options.kernel = parts.feeder;
  options.tracing.probes = parts.feeder;
  options.tracing.probe_targets = kernel_probes();
  tracing_ = std::make_unique<tracing::TracingBranch>(tree, tracing, ledger, options, now);
  all_ = {statistics_.get(), stats_.get(), latencies_.get(), tracing_.get()};
}

}  // namespace tallyfs
