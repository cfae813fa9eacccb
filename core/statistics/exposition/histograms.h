// Makes series of histograms from statistics: arrays, ranges and percentiles.
//
// The bounds of a series follow from its definition alone, never from the samples. So all machines
// with one definition have the same bounds, and `sum by (le)` over them is right.
//
// Keeps the bounds of the last arrays that it saw, since most are alike, and the powers of two that
// were bounds. A series is good until the next is made. Confined to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/statistics/definition/definition.h"
#include "core/statistics/exposition/histogram_series.h"
#include "core/statistics/types/array_statistic.h"
#include "core/statistics/types/quantiles_statistic.h"
#include "core/sums/sums.h"

namespace tallyfs::statistics {

class Histograms {
 public:
  // More bounds are thinned out; the first and the last stay.
  static constexpr std::size_t kBucketsMax = 256;

  const HistogramSeries& of(const ArrayStatistic& array, const Definition& definition,
                            const UnitScale& scale);
  // The one bucket `+Inf`.
  const HistogramSeries& of(const Summary& summary, const UnitScale& scale);
  // Buckets at all powers of two of the base unit that the range of X has, and at 0 if the range
  // has it. Where range_max is not set, the last is that of X = kOpenEnd; X above are in `+Inf`
  // alone.
  static constexpr std::int64_t kOpenEnd = std::int64_t{1} << 40;
  const HistogramSeries& of(const QuantilesStatistic& quantiles, const Definition& definition,
                            const UnitScale& scale);

 private:
  struct ArrayShape {
    ArraySettings settings;
    std::int64_t range_min = 0;
    std::int64_t range_max = 0;
    UnitScale scale{};

    bool operator==(const ArrayShape&) const = default;
  };
  struct Kept {
    ArrayShape shape;
    std::vector<HistogramBound> bounds;
    std::vector<std::size_t> places;  // of the bounds, in the array
  };

  static constexpr std::size_t kKept = 16;

  // Exponents of the powers of two that are bounds; first > last: there are none.
  struct Powers {
    bool has_zero = false;
    std::int32_t first = 1;
    std::int32_t last = 0;
  };

  static Powers powers_of(const Definition& definition);
  const Kept& bounds_of(const ArrayShape& shape);
  const HistogramBound& power_of_two(std::int32_t exponent);
  void begin(const UnitScale& scale, std::uint64_t count, Int128 sum, bool is_negative);
  void add_bound(const HistogramBound& bound);
  void add_buckets(const ExponentialHistogram& histogram, const Definition& definition);

  std::array<Kept, kKept> kept_;
  std::size_t next_ = 0;
  const HistogramBound zero_{.value = 0, .text = "0.0"};
  std::map<std::int32_t, HistogramBound> powers_;  // by exponent; at most those of doubles
  HistogramSeries series_;                         // the newest; it keeps its memory
};

}  // namespace tallyfs::statistics
