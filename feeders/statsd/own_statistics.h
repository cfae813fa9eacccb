// The feeder's counts as the interface `tally-feed-statsd`. Confined to one thread.
#pragma once

#include "feeders/statsd/series/counts.h"
#include "program/feeder/own_counts.h"

namespace tallyfs::statsd {

class OwnStatistics {
 public:
  // Throws std::system_error, as what it makes.
  OwnStatistics();
  // Adds what came since the last call.
  void publish(const Counts& counts);

 private:
  OwnCounts counts_;
};

}  // namespace tallyfs::statsd
