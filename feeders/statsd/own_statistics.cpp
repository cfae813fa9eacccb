#include "feeders/statsd/own_statistics.h"

#include <string>
#include <vector>

namespace tallyfs::statsd {
namespace {

std::vector<OwnCount> listed(const Counts& counts) {
  std::vector<OwnCount> all{{"packets", "packets", counts.packets},
                            {"received", "bytes", counts.bytes},
                            {"lines", "lines", counts.lines},
                            {"metrics", "metrics", counts.metrics},
                            {"events", "events", counts.events},
                            {"checks", "checks", counts.checks},
                            {"overflowed", "metrics", counts.overflowed},
                            {"rounded", "metrics", counts.rounded},
                            {"lengths_guessed", "events", counts.lengths_guessed},
                            {"times_clipped", "lines", counts.times_clipped},
                            {"truncated", "packets", counts.truncated},
                            {"denied", "packets", counts.denied},
                            {"kernel_drops", "packets", counts.kernel_drops},
                            {"connections_closed", "connections", counts.connections_closed},
                            {"series", "series", counts.series},
                            {"names_given_up", "names", counts.names_given_up}};
  for (std::size_t i = 0; i < kReasonNames.size(); ++i) {
    all.push_back({std::string("refused{reason:").append(kReasonNames[i]).append("}"), "lines",
                   counts.refused[i]});
  }
  return all;
}

}  // namespace

OwnStatistics::OwnStatistics() : counts_("tally-feed-statsd", "statsd", listed({})) {}

void OwnStatistics::publish(const Counts& counts) { counts_.publish(listed(counts)); }

}  // namespace tallyfs::statsd
