// One series of a histogram, as every format needs it: cumulative counts at bounds, the sum, and
// the buckets of a native histogram where they are exact. Values, but for the bounds, which the
// maker of the series keeps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/statistics/exposition/number.h"

namespace tallyfs::statistics {

// A bound of a classic histogram, and as `le` has it.
struct HistogramBound {
  double value = 0;
  std::string text{};
};

// Buckets of exponential width (core/base/exponential_buckets.h) by index, those that counted.
struct NativeBuckets {
  // X are integers, so that the bucket of zeros is the same with it as with 0. Prometheus 2.42
  // takes a federated histogram for a native one only if the threshold is above 0: with 0, its
  // counts arrive as 0. It is the threshold of Prometheus' own client libraries.
  static constexpr double kThresholdOfZero = 0x1p-128;

  struct Bucket {
    std::int32_t index = 0;
    std::uint64_t count = 0;
  };
  std::int32_t schema = 0;
  double zero_threshold = kThresholdOfZero;
  std::uint64_t zero_count = 0;
  std::vector<Bucket> positive;  // ascending
  std::vector<Bucket> negative;
};

struct HistogramSeries {
  std::vector<const HistogramBound*> bounds;  // ascending, `+Inf` not among them
  std::vector<std::uint64_t> counts;          // cumulative, one for each bound
  std::uint64_t count = 0;                    // of all
  Quantity sum{};
  bool is_negative = false;  // an X below 0 came, or may have
  bool is_native = false;    // it has these buckets
  NativeBuckets native{};
};

}  // namespace tallyfs::statistics
