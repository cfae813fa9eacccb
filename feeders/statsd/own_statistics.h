// The feeder's counts as the interface `tally-feed-statsd`: a statistic for each, whose total is
// the count. Confined to one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "feeders/statsd/series/counts.h"
#include "tally/statistic.hpp"

namespace tallyfs::statsd {

class OwnStatistics {
 public:
  // Throws std::system_error, as what it makes.
  OwnStatistics();
  // Adds what came since the last call.
  void publish(const Counts& counts);

 private:
  struct Published {
    tally::Statistic statistic;
    std::uint64_t total = 0;
  };
  tally::Interface interface_{"tally-feed-statsd"};
  std::vector<Published> published_;
};

}  // namespace tallyfs::statsd
