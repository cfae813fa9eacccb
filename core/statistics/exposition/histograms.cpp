#include "core/statistics/exposition/histograms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/exponential_buckets.h"
#include "core/base/saturating.h"
#include "core/statistics/definition/array_bounds.h"

namespace tallyfs::statistics {
namespace {

HistogramBound bound_of(double value) {
  HistogramBound made{.value = value};
  append_go_double(made.text, value);
  return made;
}

std::optional<int> exponent_of(std::uint64_t number) {
  if (!std::has_single_bit(number)) return std::nullopt;
  return std::countr_zero(number);
}

// k if base_interval times the unit's factor is 2^k: then the bounds of an array with scale=log2
// and range_min=0 are powers of two in the base unit. If the last bound is 2^63, too, none is
// above.
std::optional<int> native_exponent(const Definition& definition) {
  const auto& settings = std::get<ArraySettings>(definition.settings);
  const UnitFactor factor = factor_of_x(definition);
  const auto base = exponent_of(settings.base_interval);
  const auto up = exponent_of(factor.numerator);
  const auto down = exponent_of(factor.denominator);
  constexpr std::int64_t kLastBoundIs63 = std::int64_t{1} << 62;
  if (settings.scale != Scale::kLog2 || definition.range_min != 0 ||
      definition.range_max <= kLastBoundIs63 || !base || !up || !down) {
    return std::nullopt;
  }
  return *base + *up - *down;
}

// Where the array has one.
void add_native(HistogramSeries& series, const ArrayStatistic& array,
                const Definition& definition) {
  const auto exponent = native_exponent(definition);
  if (!exponent || array.has_negative()) return;
  const auto totals = array.totals();
  const bool is_wide = std::get<ArraySettings>(definition.settings).base_interval > 1;
  series.is_native = true;
  NativeBuckets& native = series.native;
  native.zero_count = totals[0];
  std::size_t first = 1;
  if (is_wide) {
    native.zero_threshold = std::ldexp(1.0, *exponent);
    add_saturating(native.zero_count, totals[1]);
    first = 2;
  }
  for (std::size_t i = first; i + 1 < totals.size(); ++i) {
    if (totals[i] == 0) continue;
    native.positive.push_back({*exponent + static_cast<std::int32_t>(i) - 1, totals[i]});
  }
}

}  // namespace

const Histograms::Kept& Histograms::bounds_of(const ArrayShape& shape) {
  for (const Kept& kept : kept_) {
    if (!kept.places.empty() && kept.shape == shape) return kept;
  }
  Kept& made = kept_[next_++ % kKept];
  made = {.shape = shape, .bounds = {}, .places = {}};
  const ArrayBounds bounds(shape.settings, shape.range_min, shape.range_max);
  const auto size = static_cast<std::size_t>(bounds.size());
  const std::size_t step = size <= kBucketsMax ? 1 : (size + kBucketsMax - 2) / (kBucketsMax - 1);
  for (std::size_t i = 0; i < size; i += step) made.places.push_back(i);
  if (made.places.back() != size - 1) made.places.push_back(size - 1);
  for (const std::size_t place : made.places) {
    made.bounds.push_back(bound_of(to_double({.value = bounds[place], .scale = shape.scale})));
  }
  return made;
}

const HistogramBound& Histograms::power_of_two(std::int32_t exponent) {
  const auto found = powers_.find(exponent);
  if (found != powers_.end()) return found->second;
  return powers_.emplace(exponent, bound_of(std::ldexp(1.0, exponent))).first->second;
}

void Histograms::begin(const UnitScale& scale, std::uint64_t count, Int128 sum, bool is_negative) {
  series_.bounds.clear();
  series_.counts.clear();
  series_.count = count;
  series_.sum = {.value = sum, .scale = scale};
  series_.is_negative = is_negative;
  series_.is_native = false;
  series_.native.schema = 0;
  series_.native.zero_threshold = NativeBuckets::kThresholdOfZero;
  series_.native.zero_count = 0;
  series_.native.positive.clear();
  series_.native.negative.clear();
}

// At which all that was counted so far lies.
void Histograms::add_bound(const HistogramBound& bound) {
  series_.bounds.push_back(&bound);
  series_.counts.push_back(series_.count);
}

const HistogramSeries& Histograms::of(const ArrayStatistic& array, const Definition& definition,
                                      const UnitScale& scale) {
  const Kept& kept = bounds_of({.settings = std::get<ArraySettings>(definition.settings),
                                .range_min = definition.range_min,
                                .range_max = definition.range_max,
                                .scale = scale});
  begin(scale, 0, array.sum(), array.has_negative() || definition.range_min < 0);
  add_native(series_, array, definition);
  const auto totals = array.totals();
  std::size_t next = 0;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    add_saturating(series_.count, totals[i]);
    if (next < kept.places.size() && kept.places[next] == i) add_bound(kept.bounds[next++]);
  }
  return series_;
}

const HistogramSeries& Histograms::of(const Summary& summary, const UnitScale& scale) {
  begin(scale, summary.number, summary.sum, summary.min < 0);
  return series_;
}

const HistogramSeries& Histograms::of(const QuantilesStatistic& quantiles,
                                      const Definition& definition, const UnitScale& scale) {
  const ExponentialHistogram& histogram = quantiles.histogram();
  const Summary& summary = histogram.summary();
  begin(scale, histogram.zeros(), summary.sum, summary.min < 0);
  NativeBuckets& native = series_.native;
  series_.is_native = true;
  native.schema = std::get<QuantilesSettings>(definition.settings).precision;
  native.zero_count = histogram.zeros();
  histogram.each_negative([&](std::int32_t index, std::uint64_t count) {
    native.negative.push_back({index, count});
    add_saturating(series_.count, count);
  });
  add_buckets(histogram, definition);
  return series_;
}

// A power below all X is the lower edge of the first bucket, unless 0 is.
Histograms::Powers Histograms::powers_of(const Definition& definition) {
  Powers powers{.has_zero = definition.range_min <= 0};
  if (definition.range_max < 1) return powers;
  const auto& buckets = ExponentialBuckets::get(0, factor_of_x(definition));
  const auto exponent = [&](std::int64_t x) {
    return buckets.first_index() +
           static_cast<std::int32_t>(buckets.place(static_cast<std::uint64_t>(x)));
  };
  const std::int64_t least = std::max<std::int64_t>(definition.range_min, 1);
  const bool is_open = definition.range_max == std::numeric_limits<std::int64_t>::max();
  powers.first = exponent(least) - (powers.has_zero ? 0 : 1);
  powers.last = exponent(is_open ? std::max(least, kOpenEnd) : definition.range_max);
  return powers;
}

// Adds the buckets of X above 0. A bucket with a higher precision lies below one power of two as a
// whole.
void Histograms::add_buckets(const ExponentialHistogram& histogram, const Definition& definition) {
  const auto precision = std::get<QuantilesSettings>(definition.settings).precision;
  const auto power_above = [&](std::int32_t index) {
    return (index + (1 << precision) - 1) >> precision;
  };
  const Powers powers = powers_of(definition);
  if (powers.has_zero) add_bound(zero_);
  std::int32_t next = powers.first;
  const auto add_bounds_below = [&](std::int32_t end) {
    for (; next < end && next <= powers.last; ++next) add_bound(power_of_two(next));
  };
  histogram.each_positive([&](std::int32_t index, std::uint64_t count) {
    series_.native.positive.push_back({index, count});
    add_bounds_below(power_above(index));
    add_saturating(series_.count, count);
  });
  add_bounds_below(powers.last + 1);
}

}  // namespace tallyfs::statistics
