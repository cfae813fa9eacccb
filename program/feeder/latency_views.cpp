#include "program/feeder/latency_views.h"

namespace tallyfs {

std::vector<tally::Statistic> create_latency_views(const tally::Statistic& latencies,
                                                   const std::string& name,
                                                   const std::string& labels) {
  const tally::Range range{.min = 0};
  std::vector<tally::Statistic> views;
  views.push_back(latencies.create_view(name + "_percentiles" + labels,
                                        tally::Quantiles{.range = range, .precision = 5}));
  views.push_back(latencies.create_view(name + "_by_second" + labels,
                                        tally::QuantileHistory{.range = range,
                                                               .entries_max = 300,
                                                               .period = std::chrono::seconds(1),
                                                               .precision = 5,
                                                               .quantiles = "50,99"}));
  return views;
}

}  // namespace tallyfs
