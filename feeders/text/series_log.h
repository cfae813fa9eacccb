// Logs the counts of a feeder's SeriesBounds, at most once a minute: removed names and statistics,
// and samples that went to NAME{*}. Confined to one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "feeders/text/growth_log.h"
#include "feeders/text/series_bounds.h"

namespace tallyfs {

class SeriesLog {
 public:
  // what: the things that give way, as "names".
  explicit SeriesLog(std::string what) : what_(std::move(what)) {}

  // The lines that are due. overflowed: the samples that went to NAME{*} in all.
  std::vector<std::string> take(const SeriesBounds& bounds, std::uint64_t overflowed,
                                std::chrono::nanoseconds now);

 private:
  const std::string what_;
  GrowthLog given_up_;
  GrowthLog overflowed_;
};

}  // namespace tallyfs
