// One series of a histogram, as every format needs it: cumulative counts at bounds, the sum, and
// the buckets of a native histogram where they are exact. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/exposition/number.h"

namespace tallyfs {

// The bounds of a classic histogram, ascending, `+Inf` not among them.
struct HistogramBounds {
  std::vector<double> bounds;
  std::vector<std::string> texts;  // each as `le` has it
};

// Buckets of exponential width (core/model/exponential_buckets.h) by index, those that counted.
struct NativeBuckets {
  struct Bucket {
    std::int32_t index = 0;
    std::uint64_t count = 0;
  };
  std::int32_t schema = 0;
  double zero_threshold = 0;
  std::uint64_t zero_count = 0;
  std::vector<Bucket> positive;  // ascending
  std::vector<Bucket> negative;
};

struct HistogramSeries {
  const HistogramBounds* bounds = nullptr;
  std::vector<std::uint64_t> counts;  // cumulative, one for each bound
  std::uint64_t count = 0;            // of all
  Quantity sum{};
  bool is_negative = false;  // an X below 0 came, or may have
  std::optional<NativeBuckets> native{};
};

}  // namespace tallyfs
