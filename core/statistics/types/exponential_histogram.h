// Sum of Y for each bucket of exponential width (core/base/exponential_buckets.h), one for 0, and
// the same again for X below zero; beside it number, smallest, average and greatest X, exact.
//
// Percentiles are of the nearest rank: the smallest X with at least q % of the weight at or below
// it. The answer is the upper end of its bucket, but never above the greatest X: so it is never
// below the true value, and less than the width of one bucket above it.
//
// Buckets have memory for the range in use only, which grows by halves up to what the range of X
// allows. Confined to its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/exponential_buckets.h"
#include "core/base/int128.h"
#include "core/base/json.h"
#include "core/base/quantile_list.h"
#include "core/model/sample.h"
#include "core/sums/sums.h"

namespace tallyfs::statistics {

// From where to where X can be.
struct Span {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();

  bool operator==(const Span&) const = default;
  Span joined(const Span& other) const;
};

class ExponentialHistogram {
 public:
  explicit ExponentialHistogram(const ExponentialBuckets& buckets) : buckets_(&buckets) {}

  // Heap that buckets of X within a span may come to hold; for a moment, when they grow, up to as
  // much again.
  static std::uint64_t worst_case_bytes(const ExponentialBuckets& buckets, const Span& span);

  // True when a counter reached the end of its type. X of samples lie within the span, which never
  // gets narrower for one histogram.
  bool add(std::span<const Sample> samples, const Span& span);
  bool add(std::span<const Sample> samples, const Span& span, const RunSums& sums);
  // Adds what another counted, with the same buckets and a span that holds both.
  bool merge(const ExponentialHistogram& other, const Span& span);
  void clear();

  const Summary& summary() const { return summary_; }
  bool is_empty() const { return summary_.min > summary_.max; }
  std::uint64_t zeros() const { return zeros_; }
  // Calls visit(index, sum) for each bucket that counted, by ascending index: of X above 0, and
  // below.
  template <typename Visit>
  void each_positive(Visit visit) const {
    each_index(positive_, visit);
  }
  template <typename Visit>
  void each_negative(Visit visit) const {
    each_index(negative_, visit);
  }
  // Calls visit(i, X) for each of the list, in its order. No call without weight.
  template <typename Visit>
  void each_quantile(const QuantileList& quantiles, Visit visit) const;

  // An object of `zero`, `positive` and `negative`: sums of the buckets that counted, by index.
  void write_buckets(JsonWriter& json) const;

  void save(ByteWriter& out) const;
  void load(ByteReader& in, const Span& span);

 private:
  // Counters of successive places.
  struct Window {
    std::uint32_t first = 0;
    std::vector<std::uint64_t> counts{};

    // The counter of a place, which is from least to most, as all others are.
    std::uint64_t& at(std::uint32_t place, std::uint32_t least, std::uint32_t most) {
      const std::uint32_t i = place - first;
      if (i < counts.size()) [[likely]]
        return counts[i];
      return grown(place, least, most);
    }
    std::uint64_t& grown(std::uint32_t place, std::uint32_t least, std::uint32_t most);
  };
  // The places that a window may come to have; least > most: none.
  struct Limits {
    std::uint32_t least = 1;
    std::uint32_t most = 0;

    std::uint64_t size() const { return least > most ? 0 : most - least + std::uint64_t{1}; }
  };

  static Limits positive_limits(const ExponentialBuckets& buckets, const Span& span);
  static Limits negative_limits(const ExponentialBuckets& buckets, const Span& span);
  bool count(std::span<const Sample> samples, const Span& span);
  std::size_t add_common(std::span<const Sample> samples);
  bool add_rest(std::int64_t x, std::uint64_t y, const Span& span);
  UInt128 weight() const;
  std::int64_t bounded(std::int64_t x) const;
  template <typename Visit>
  void each_index(const Window& window, Visit visit) const {
    const auto first = buckets_->first_index() + static_cast<std::int32_t>(window.first);
    for (std::size_t i = 0; i < window.counts.size(); ++i) {
      if (window.counts[i] != 0) visit(first + static_cast<std::int32_t>(i), window.counts[i]);
    }
  }
  void write_window(JsonWriter& json, const Window& window) const;
  static void save(ByteWriter& out, const Window& window);
  static void load(ByteReader& in, Window& window, const Limits& limits);
  // Visits each bucket that counted, the least X first, by its upper end and its sum, until a visit
  // returns false.
  template <typename Visit>
  void each_bucket(Visit visit) const;

  const ExponentialBuckets* buckets_;
  Summary summary_;
  std::uint64_t zeros_ = 0;
  Window positive_;
  Window negative_;
};

template <typename Visit>
void ExponentialHistogram::each_bucket(Visit visit) const {
  for (std::size_t i = negative_.counts.size(); i-- > 0;) {
    if (negative_.counts[i] == 0) continue;
    const std::uint64_t lower = buckets_->lower(negative_.first + static_cast<std::uint32_t>(i));
    if (!visit(static_cast<std::int64_t>(0 - lower), negative_.counts[i])) return;
  }
  if (zeros_ != 0 && !visit(std::int64_t{0}, zeros_)) return;
  for (std::size_t i = 0; i < positive_.counts.size(); ++i) {
    if (positive_.counts[i] == 0) continue;
    const std::uint64_t upper = buckets_->upper(positive_.first + static_cast<std::uint32_t>(i));
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!visit(static_cast<std::int64_t>(upper > kMax ? kMax : upper), positive_.counts[i])) return;
  }
}

template <typename Visit>
void ExponentialHistogram::each_quantile(const QuantileList& quantiles, Visit visit) const {
  constexpr std::uint32_t kAll = 1'000'000;
  const UInt128 all = weight();
  UInt128 seen = 0;
  std::size_t i = 0;
  each_bucket([&](std::int64_t x, std::uint64_t count) {
    seen += count;
    // seen / all >= q, without a division; both have far fewer than 128 bits.
    while (i < quantiles.size() && seen * kAll >= all * quantiles.millionths(i)) {
      visit(i++, bounded(x));
    }
    return i < quantiles.size();
  });
}

}  // namespace tallyfs::statistics
