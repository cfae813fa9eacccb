// What a statistic says in a line: its heading, its percentiles, what was left out of them, and its
// values in short. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/display/distribution.h"
#include "tools/display/look.h"
#include "tools/display/statistic.h"

namespace tallyfs::view {

struct NamedPercentile {
  std::string label;  // "99.9"
  std::uint32_t millionths = 0;
};

// Those that a type=quantiles is defined with; of an array 50, 90, 99 and 99.9.
std::vector<NamedPercentile> percentiles_of(const Statistic& statistic);

// Of these the 50th and the 99th, or the first two: for a row.
std::vector<NamedPercentile> two_percentiles_of(const Statistic& statistic);

// How many samples or weights the data is of; nothing for types that do not say.
std::optional<Int128> count_of(const Statistic& statistic);

// "1 sample", or in what units= counts: "573,437 requests".
std::string samples_text(Int128 count, std::string_view units);

// INTERFACE/STATISTIC as a person reads it, and may type it (labels.h).
std::string shown_name(const std::string& interface, const std::string& statistic);

// What its help= says, as a person reads it: what is not printable ASCII stays escaped.
std::string help_text(const Statistic& statistic);

// "web/latency_us  array log2  microseconds/requests  on  573,437 requests in 10 min 14 s, 934/s".
// Counted since its `data_us`, at the moment `now_us`.
std::string heading_of(const std::string& interface, const Statistic& statistic,
                       std::uint64_t now_us);
// The same in at most `width` columns: what was counted goes first, then units and type; the name
// loses its middle at last.
std::string short_heading_of(const std::string& interface, const Statistic& statistic,
                             std::uint64_t now_us, int width, Charset charset);
// "p50 27us (17-32)   p99 2.0ms (1.0-2.1)"; empty without samples or bins.
std::string percentiles_text(const Statistic& statistic, const Look& look);
// "2 above 1.04s   7 out of range   3 missed"; empty if nothing was left out.
std::string left_out_text(const Statistic& statistic, const Look& look);
// Percentiles and what was left out, in at most `width` columns if one of each fits: less and less
// of both, from their ends.
std::string short_summary_of(const Statistic& statistic, int width, const Look& look);
// The values in short, for a row among others.
std::string values_text(const Statistic& statistic, const Look& look);

}  // namespace tallyfs::view
