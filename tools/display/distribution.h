// How often X lay where: the bins of an array or of the buckets of percentiles, and percentiles
// with their exact bounds. Values, and pure functions.
//
// The r-th smallest X, r = max(1, ceil(q N)), is certainly in the bin in which the running count
// reaches r. So the bin's ends are the bound of the error, and it is exact; the estimate inside is
// a guess, by the middle of the ranks that the bin has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/int128.h"
#include "tools/display/quantity.h"
#include "tools/display/statistic.h"

namespace tallyfs::view {

// X from first to last, both included. An array's first bin has no first X, its last no last one.
struct Bin {
  enum class Ends : std::uint8_t { kBoth, kNoFirst, kNoLast };
  Ends ends = Ends::kBoth;
  Int128 first = 0;
  Int128 last = 0;
  Int128 count = 0;
};

struct Distribution {
  enum class Scale : std::uint8_t { kLinear, kLog2, kBuckets };
  Scale scale = Scale::kLinear;
  Int128 origin = 0;  // of log2: the steps double from here
  std::vector<Bin> bins;
  std::optional<std::int64_t> max;  // of kBuckets, where it is known

  Int128 total() const;
};

// Buckets of percentiles that were hit, or octaves without a gap between them, for pictures.
enum class Detail : std::uint8_t { kFine, kOctaves };

// nullopt: the type has no bins.
std::optional<Distribution> distribution_of(const Statistic& statistic, Detail detail);

// Merges neighbours in pairs until there are at most so many bins; those without an end stay alone.
Distribution merged(const Distribution& distribution, std::size_t bins_max);

struct Percentile {
  Bin::Ends ends = Bin::Ends::kBoth;
  Int128 low = 0;
  Int128 high = 0;
  double estimate = 0;
};

// `millionths` of all samples, 1 to 999,999. Nothing if there are none.
std::optional<Percentile> percentile(const Distribution& distribution, std::uint32_t millionths);

// "27us (17-32)", "<=0us", ">1.04s"; without bounds if there is one X alone.
std::string percentile_text(const Percentile& percentile, const Quantity& quantity, bool exact,
                            Charset charset);
// "8us - 16us", "<=0us", ">1.04s", "5us": the ends of a bin, the lower one not included.
std::string bin_text(const Bin& bin, const Quantity& quantity, bool exact, Charset charset);

}  // namespace tallyfs::view
