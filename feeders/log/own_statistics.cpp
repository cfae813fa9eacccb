#include "feeders/log/own_statistics.h"

#include <string>
#include <utility>
#include <vector>

namespace tallyfs::logs {
namespace {

std::vector<OwnCount> listed(const LineCounts& lines, const FollowCounts& files,
                             const UncountedSamples& samples) {
  std::vector<OwnCount> all{{"lines", "lines", lines.lines},
                            {"matched", "lines", lines.matched},
                            {"unmatched", "lines", lines.unmatched},
                            {"absent", "samples", lines.absent},
                            {"undated", "lines", lines.undated},
                            {"rounded", "samples", lines.rounded},
                            {"overflowed", "samples", lines.overflowed},
                            {"names_given_up", "names", lines.names_given_up},
                            {"read", "bytes", files.bytes},
                            {"rotations", "files", files.rotations},
                            {"truncations", "files", files.truncations},
                            {"unread", "bytes", files.unread},
                            {"missed", "files", files.missed},
                            {"tails_lost", "files", files.tails_lost},
                            {"read_errors", "reads", files.read_errors},
                            {"dropped", "samples", samples.dropped},
                            {"lost", "samples", samples.lost},
                            {"cut", "lines", files.cut}};
  for (std::size_t i = 0; i < kReasonNames.size(); ++i) {
    all.push_back({std::string("refused{reason:").append(kReasonNames[i]).append("}"), "samples",
                   lines.refused[i]});
  }
  return all;
}

tally::Statistic newest(const tally::Interface& interface, const char* name, const char* units) {
  return {interface, name, {.units = units, .type = tally::Last{}, .begin = tally::Begin::kOn}};
}

void say(tally::Statistic& statistic, std::uint64_t now, std::uint64_t& said) {
  if (std::exchange(said, now) != now) statistic.inc(static_cast<std::int64_t>(now));
}

}  // namespace

OwnStatistics::OwnStatistics()
    : counts_("tally-feed-log", "log", listed({}, {}, {})),
      behind_(newest(counts_.interface(), "behind", "bytes/looks")),
      files_(newest(counts_.interface(), "files", "files/looks")) {}

void OwnStatistics::publish(const LineCounts& lines, const FollowCounts& files,
                            const UncountedSamples& samples) {
  counts_.publish(listed(lines, files, samples));
  say(behind_, files.behind, behind_said_);
  say(files_, files.files, files_said_);
}

}  // namespace tallyfs::logs
