// The feeder's counts as the interface `tally-feed-log`. Confined to one thread.
#pragma once

#include "feeders/log/follow/line_sink.h"
#include "feeders/log/rules/counts.h"
#include "program/feeder/own_counts.h"
#include "tally/statistic.hpp"

namespace tallyfs::logs {

// Samples that libtally has not brought into the tree.
struct UncountedSamples {
  std::uint64_t dropped = 0;  // there was no room, or the daemon has refused them
  // At most: a daemon that was killed with its keeper had them, or a removed statistic.
  std::uint64_t lost = 0;
  bool operator==(const UncountedSamples&) const = default;
};

class OwnStatistics {
 public:
  // Throws std::system_error, as what it makes.
  OwnStatistics();
  // Adds what came since the last call, and says what there is now.
  void publish(const LineCounts& lines, const FollowCounts& files, const UncountedSamples& samples);

 private:
  OwnCounts counts_;
  tally::Statistic behind_;
  tally::Statistic files_;
  std::uint64_t behind_said_ = UINT64_MAX;
  std::uint64_t files_said_ = UINT64_MAX;
};

}  // namespace tallyfs::logs
