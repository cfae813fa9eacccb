// A statistic in one line: its heading, its percentiles, the samples that they lack, and its values
// in short. Pure functions.
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

// The percentiles that a type=quantiles is defined with; 50, 90, 99 and 99.9 for an array.
std::vector<NamedPercentile> percentiles_of(const Statistic& statistic);

// The 50th and the 99th of these, or the first two: for a row.
std::vector<NamedPercentile> two_percentiles_of(const Statistic& statistic);

// The number of samples, or the sum of weights, of the data; nullopt for types without one.
std::optional<Int128> count_of(const Statistic& statistic);

// "1 sample", or in what units= counts: "573,437 requests".
std::string samples_text(Int128 count, std::string_view units);

// INTERFACE/STATISTIC as a person reads it, and may type it (labels.h).
std::string shown_name(const std::string& interface, const std::string& statistic);

// The text of help= for a person. Bytes that are not printable ASCII stay escaped.
std::string help_text(const Statistic& statistic);

// "web/latency_us  array log2  microseconds/requests  on  573,437 requests in 10 min 14 s, 934/s".
// The time is that from the statistic's `data_us` to now_us.
std::string heading_of(const std::string& interface, const Statistic& statistic,
                       std::uint64_t now_us);
// heading_of() in at most `width` columns. It omits the counts first, then units and type, and last
// the middle of the name.
std::string short_heading_of(const std::string& interface, const Statistic& statistic,
                             std::uint64_t now_us, int width, Charset charset);
// "p50 27us (17-32)   p99 2.0ms (1.0-2.1)"; empty without samples or bins.
std::string percentiles_text(const Statistic& statistic, const Look& look);
// "2 above 1.04s   7 out of range   3 missed"; empty if nothing was left out.
std::string left_out_text(const Statistic& statistic, const Look& look);
// Percentiles and what was left out, in at most `width` columns if one of each fits: less and less
// of both, from their ends.
std::string short_summary_of(const Statistic& statistic, int width, const Look& look);
// The values in short, for a row among others, and with them what was left out.
std::string row_text(const Statistic& statistic, const Look& look);
// The values in short, for a row among others.
std::string values_text(const Statistic& statistic, const Look& look);

}  // namespace tallyfs::view
