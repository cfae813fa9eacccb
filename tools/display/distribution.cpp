#include "tools/display/distribution.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/exponential_buckets.h"
#include "core/base/text.h"
#include "core/base/unit_factor.h"

namespace tallyfs::view {
namespace {

constexpr std::uint32_t kMillion = 1'000'000;

Distribution of_array(const Array& array, const Statistic& statistic) {
  Distribution made;
  made.scale =
      statistic.key("scale") == "log2" ? Distribution::Scale::kLog2 : Distribution::Scale::kLinear;
  const std::size_t bins = std::min(array.bounds.size() + 1, array.counts.size());
  for (std::size_t i = 0; i < bins; ++i) {
    Bin bin{.count = array.counts[i]};
    if (i > 0) bin.first = array.bounds[i - 1] + 1;
    if (i < array.bounds.size()) bin.last = array.bounds[i];
    if (i == 0) bin.ends = Bin::Ends::kNoFirst;
    if (i == array.bounds.size()) bin.ends = Bin::Ends::kNoLast;
    made.bins.push_back(bin);
  }
  if (!array.bounds.empty()) made.origin = array.bounds.front();
  return made;
}

// Places of a group: buckets of percentiles, or octaves of 2^shift of them.
Bin bin_of_group(const ExponentialBuckets& edges, std::int64_t group, unsigned shift) {
  const auto from = static_cast<std::uint32_t>(group << shift);
  const auto to = std::min((from | ((1u << shift) - 1)), edges.places() - 1);
  return {.first = Int128{edges.lower(from)}, .last = Int128{edges.upper(to)}, .count = 0};
}

// The bins of one sign, ascending by |X|. A bucket that no X has is left out, an octave between
// others is not: the steps of a picture are equal. Octaves and buckets of small X may hold no
// integer; a document that counts there, which no daemon writes, has its counts at the next one.
std::vector<Bin> bins_of(const Buckets& buckets, const ExponentialBuckets& edges, Detail detail) {
  std::vector<Bin> made;
  const unsigned shift = detail == Detail::kOctaves ? edges.precision() : 0;
  std::int64_t group = -1;
  const std::size_t size = std::min(buckets.indexes.size(), buckets.counts.size());
  for (std::size_t i = 0; i < size; ++i) {
    const std::int64_t place = std::int64_t{buckets.indexes[i]} - edges.first_index();
    if (place < 0 || place >= std::int64_t{edges.places()}) continue;
    if (!made.empty() && (place >> shift) == group) {
      made.back().count += buckets.counts[i];
      continue;
    }
    const std::int64_t before = std::exchange(group, place >> shift);
    const bool has_gap = detail == Detail::kOctaves && !made.empty();
    for (std::int64_t each = before + 1; has_gap && each < group; ++each) {
      const Bin empty = bin_of_group(edges, each, shift);
      if (empty.first <= empty.last) made.push_back(empty);
    }
    Bin counted = bin_of_group(edges, group, shift);
    counted.last = std::max(counted.first, counted.last);
    counted.count = buckets.counts[i];
    made.push_back(counted);
  }
  return made;
}

Distribution of_quantiles(const Quantiles& quantiles, const Statistic& statistic, Detail detail) {
  Distribution made{.scale = Distribution::Scale::kBuckets, .origin = 0, .bins = {}, .max = {}};
  const auto precision = parse_unsigned(statistic.key("precision")).value_or(0);
  const auto& edges = ExponentialBuckets::get(
      static_cast<unsigned>(std::min<std::uint64_t>(precision, ExponentialBuckets::kPrecisionMax)),
      with_decimals(unit_of_x(statistic.units).factor, statistic.decimals()));
  made.bins = bins_of(quantiles.negative, edges, detail);
  std::ranges::reverse(made.bins);
  for (Bin& bin : made.bins) bin.first = -std::exchange(bin.last, -bin.first);
  if (quantiles.zero != 0) made.bins.push_back({.count = quantiles.zero});
  const auto positive = bins_of(quantiles.positive, edges, detail);
  made.bins.insert(made.bins.end(), positive.begin(), positive.end());
  made.max = quantiles.all.max;
  return made;
}

// The estimate for the place `part`, 0 to 1, of the ranks of a bin.
double inside(const Distribution& distribution, const Bin& bin, double part) {
  const double lower = static_cast<double>(bin.first) - 1;
  const double upper = static_cast<double>(bin.last);
  const double origin = static_cast<double>(distribution.origin);
  double guess = lower + part * (upper - lower);
  if (distribution.scale == Distribution::Scale::kLog2 && lower > origin) {
    guess = origin + (lower - origin) * std::exp2(part);
  }
  return std::clamp(std::round(guess), static_cast<double>(bin.first), upper);
}

Percentile in_bin(const Distribution& distribution, const Bin& bin, Int128 before, Int128 rank) {
  Percentile found{.ends = bin.ends, .low = bin.first, .high = bin.last};
  if (bin.ends == Bin::Ends::kNoFirst) found.low = bin.last;
  if (bin.ends == Bin::Ends::kNoLast) found.high = found.low = bin.first - 1;
  found.estimate = static_cast<double>(found.high);
  if (bin.ends != Bin::Ends::kBoth) return found;
  if (distribution.scale == Distribution::Scale::kBuckets) {
    if (distribution.max) found.high = std::clamp(Int128{*distribution.max}, found.low, found.high);
    found.estimate = static_cast<double>(found.high);
    return found;
  }
  const double part = (static_cast<double>(rank - before) - 0.5) / static_cast<double>(bin.count);
  found.estimate = inside(distribution, bin, part);
  return found;
}

Bin joined(const Bin& low, const Bin& high) {
  return {.first = low.first, .last = high.last, .count = low.count + high.count};
}

}  // namespace

Int128 Distribution::total() const {
  Int128 sum = 0;
  for (const Bin& bin : bins) sum += bin.count;
  return sum;
}

std::optional<Distribution> distribution_of(const Statistic& statistic, Detail detail) {
  if (const auto* array = std::get_if<Array>(&statistic.values)) {
    return of_array(*array, statistic);
  }
  if (const auto* quantiles = std::get_if<Quantiles>(&statistic.values)) {
    return of_quantiles(*quantiles, statistic, detail);
  }
  return std::nullopt;
}

Distribution merged(const Distribution& distribution, std::size_t bins_max) {
  Distribution made = distribution;
  while (made.bins.size() > std::max<std::size_t>(bins_max, 3)) {
    std::vector<Bin> fewer;
    for (std::size_t i = 0; i < made.bins.size(); ++i) {
      const Bin& bin = made.bins[i];
      const bool has_next = i + 1 < made.bins.size() && bin.ends == Bin::Ends::kBoth &&
                            made.bins[i + 1].ends == Bin::Ends::kBoth;
      fewer.push_back(has_next ? joined(bin, made.bins[i + 1]) : bin);
      if (has_next) ++i;
    }
    made.bins = std::move(fewer);
  }
  return made;
}

std::optional<Percentile> percentile(const Distribution& distribution, std::uint32_t millionths) {
  const Int128 total = distribution.total();
  if (total <= 0) return std::nullopt;
  // Without a product that could be beyond 127 bits.
  const Int128 part =
      total / kMillion * millionths + (total % kMillion * millionths + kMillion - 1) / kMillion;
  const Int128 rank = std::max<Int128>(1, part);
  Int128 before = 0;
  for (const Bin& bin : distribution.bins) {
    if (bin.count > 0 && before + bin.count >= rank) {
      return in_bin(distribution, bin, before, rank);
    }
    before += bin.count;
  }
  return std::nullopt;
}

std::string percentile_text(const Percentile& percentile, const Quantity& quantity, bool exact,
                            Charset charset) {
  const Digits digits = exact ? Digits::kAll : Digits::kTwo;
  const Digits of_ends = exact ? Digits::kAll : Digits::kThree;
  const auto high = static_cast<double>(percentile.high);
  if (percentile.ends == Bin::Ends::kNoFirst) {
    return std::string("<=").append(
        number_text(high, quantity, of_ends, charset, Rounding::kUp));
  }
  if (percentile.ends == Bin::Ends::kNoLast) {
    return std::string(">").append(
        number_text(high, quantity, of_ends, charset, Rounding::kDown));
  }
  const auto estimate = [&](Digits of) {
    return number_text(percentile.estimate, quantity, of, charset);
  };
  if (percentile.low >= percentile.high) return estimate(digits);
  const auto low = static_cast<double>(percentile.low);
  // Bounds that two digits do not tell apart get a third, and the estimate between them, too; what
  // is nearer needs none. The true value is never outside the bounds that are shown.
  const auto bound = [&](double of, Digits each, Rounding rounding) {
    return number_like(of, percentile.estimate, quantity, each, rounding);
  };
  for (const Digits each : {digits, of_ends}) {
    if (bound(low, each, Rounding::kNearest) == bound(high, each, Rounding::kNearest)) continue;
    return estimate(each)
        .append(" (")
        .append(bound(low, each, Rounding::kDown))
        .append("-")
        .append(bound(high, each, Rounding::kUp))
        .append(")");
  }
  return estimate(digits);
}

std::string bin_text(const Bin& bin, const Quantity& quantity, bool exact, Charset charset) {
  const Digits digits = exact ? Digits::kAll : Digits::kTwo;
  const auto text = [&](Int128 x) {
    return number_text(static_cast<double>(x), quantity, digits, charset);
  };
  if (bin.ends == Bin::Ends::kNoFirst) return std::string("<=").append(text(bin.last));
  if (bin.ends == Bin::Ends::kNoLast) return std::string(">").append(text(bin.first - 1));
  if (bin.first >= bin.last) return text(bin.last);
  return text(bin.first - 1).append(" - ").append(text(bin.last));
}

}  // namespace tallyfs::view
