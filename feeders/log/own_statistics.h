// The feeder's counts as the interface `tally-feed-log`. Confined to one thread.
#pragma once

#include "feeders/log/follow/line_sink.h"
#include "feeders/log/rules/counts.h"
#include "program/feeder/own_counts.h"
#include "tally/statistic.hpp"

namespace tallyfs::logs {

class OwnStatistics {
 public:
  // Throws std::system_error, as what it makes.
  OwnStatistics();
  // Adds what came since the last call, and says what there is now.
  void publish(const LineCounts& lines, const FollowCounts& files, std::uint64_t dropped);

 private:
  OwnCounts counts_;
  tally::Statistic behind_;
  tally::Statistic files_;
  std::uint64_t behind_said_ = UINT64_MAX;
  std::uint64_t files_said_ = UINT64_MAX;
};

}  // namespace tallyfs::logs
