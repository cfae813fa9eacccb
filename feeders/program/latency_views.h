// The views that the ready-made feeders offer of a statistic of latencies: its percentiles, and the
// last five minutes second by second. Here they are defined for all of them; users redefine them,
// or remove them, as any others.
//
// Any thread, before the statistic's first sample at best: what came before is not in the views.
#pragma once

#include <string>
#include <vector>

#include "tally/statistic.hpp"

namespace tallyfs {

inline constexpr std::size_t kLatencyViews = 2;

// NAME_percentiles and NAME_by_second, where NAME is the name of the statistic. They stay as long
// as they are kept. Throws what their creation throws.
std::vector<tally::Statistic> create_latency_views(const tally::Statistic& latencies,
                                                   const std::string& name);

}  // namespace tallyfs
