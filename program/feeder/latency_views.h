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

// NAME_percentiles and NAME_by_second of the statistic NAME, each with the labels, as `{cpu:0}`,
// that the statistic has. The views live as long as what is returned. Throws what their creation
// throws.
std::vector<tally::Statistic> create_latency_views(const tally::Statistic& latencies,
                                                   const std::string& name,
                                                   const std::string& labels = "");

}  // namespace tallyfs
