#include "core/exposition/histograms.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/saturating.h"
#include "core/definition/array_bounds.h"
#include "core/model/unit_factor.h"

namespace tallyfs {
namespace {

void add_bound(HistogramBounds& to, double bound) {
  to.bounds.push_back(bound);
  append_go_double(to.texts.emplace_back(), bound);
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
  const UnitFactor factor = unit_of_x(definition.units).factor;
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

std::optional<NativeBuckets> native_of(const ArrayStatistic& array, const Definition& definition) {
  const auto exponent = native_exponent(definition);
  if (!exponent || array.has_negative()) return std::nullopt;
  const auto totals = array.totals();
  const bool is_wide = std::get<ArraySettings>(definition.settings).base_interval > 1;
  NativeBuckets native{.zero_count = totals[0]};
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
  return native;
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
    add_bound(made.bounds, to_double({.value = bounds[place], .scale = shape.scale}));
  }
  return made;
}

HistogramSeries Histograms::of(const ArrayStatistic& array, const Definition& definition,
                               const UnitScale& scale) {
  const Kept& kept = bounds_of({.settings = std::get<ArraySettings>(definition.settings),
                                .range_min = definition.range_min,
                                .range_max = definition.range_max,
                                .scale = scale});
  const auto totals = array.totals();
  HistogramSeries series{.bounds = &kept.bounds,
                         .sum = {.value = array.sum(), .scale = scale},
                         .is_negative = array.has_negative() || definition.range_min < 0,
                         .native = native_of(array, definition)};
  series.counts.reserve(kept.places.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < totals.size(); ++i) {
    add_saturating(series.count, totals[i]);
    if (next < kept.places.size() && kept.places[next] == i) {
      series.counts.push_back(series.count);
      ++next;
    }
  }
  return series;
}

HistogramSeries Histograms::of(const Summary& summary, const UnitScale& scale) {
  return {.count = summary.number,
          .sum = {.value = summary.sum, .scale = scale},
          .is_negative = summary.min < 0};
}

HistogramSeries Histograms::of(const QuantilesStatistic& quantiles, const Definition& definition,
                               const UnitScale& scale) {
  const ExponentialHistogram& histogram = quantiles.histogram();
  const auto precision = std::get<QuantilesSettings>(definition.settings).precision;
  const Summary& summary = histogram.summary();
  NativeBuckets native{.schema = precision, .zero_count = histogram.zeros()};
  HistogramSeries series{.bounds = &powers_,
                         .count = histogram.zeros(),
                         .sum = {.value = summary.sum, .scale = scale},
                         .is_negative = summary.min < 0};
  histogram.each_negative([&](std::int32_t index, std::uint64_t count) {
    native.negative.push_back({index, count});
    add_saturating(series.count, count);
  });
  powers_ = {};
  if (series.count != 0) {
    add_bound(powers_, 0);
    series.counts.push_back(series.count);
  }
  // The power of two that is the upper end of a bucket, or lies above it.
  const auto power_above = [&](std::int32_t index) {
    return (index + (1 << precision) - 1) >> precision;
  };
  std::optional<std::int32_t> power;
  histogram.each_positive([&](std::int32_t index, std::uint64_t count) {
    native.positive.push_back({index, count});
    if (!power) power = power_above(index);
    for (; *power < power_above(index); ++*power) {
      add_bound(powers_, std::ldexp(1.0, *power));
      series.counts.push_back(series.count);
    }
    add_saturating(series.count, count);
  });
  if (power) {
    add_bound(powers_, std::ldexp(1.0, *power));
    series.counts.push_back(series.count);
  }
  series.native = std::move(native);
  return series;
}

}  // namespace tallyfs
