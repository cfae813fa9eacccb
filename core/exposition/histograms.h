// Makes series of histograms from statistics: arrays, ranges and percentiles.
//
// Keeps the bounds of the last arrays that it saw, since most are alike. A series is good until the
// next is made. Confined to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/definition/definition.h"
#include "core/exposition/histogram_series.h"
#include "core/statistic/array_statistic.h"
#include "core/statistic/quantiles_statistic.h"
#include "core/statistic/sums.h"

namespace tallyfs {

class Histograms {
 public:
  // More bounds are thinned out; the first and the last stay.
  static constexpr std::size_t kBucketsMax = 256;

  HistogramSeries of(const ArrayStatistic& array, const Definition& definition,
                     const UnitScale& scale);
  // The one bucket `+Inf`.
  HistogramSeries of(const Summary& summary, const UnitScale& scale);
  // Buckets at all powers of two, from the smallest to the largest that counted.
  HistogramSeries of(const QuantilesStatistic& quantiles, const Definition& definition,
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
    HistogramBounds bounds;
    std::vector<std::size_t> places;  // of the bounds, in the array
  };

  static constexpr std::size_t kKept = 16;

  const Kept& bounds_of(const ArrayShape& shape);

  std::array<Kept, kKept> kept_;
  std::size_t next_ = 0;
  HistogramBounds powers_;
};

}  // namespace tallyfs
