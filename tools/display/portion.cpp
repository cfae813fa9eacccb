#include "tools/display/portion.h"

#include <algorithm>
#include <cmath>

#include "tools/display/change.h"
#include "tools/display/distribution.h"

namespace tallyfs::view {
namespace {

constexpr std::uint32_t kMedian = 500'000;  // millionths

// Near the middle of a bin, as octaves have it.
double middle(const Bin& bin) {
  const double first = static_cast<double>(bin.first);
  const double last = static_cast<double>(bin.last);
  if (bin.ends == Bin::Ends::kNoFirst) return last;
  if (bin.ends == Bin::Ends::kNoLast) return first * std::sqrt(2.0);
  return first > 1 && last > first ? std::sqrt((first - 1) * last) : (first + last) / 2;
}

}  // namespace

bool has_past(const Statistic& statistic) {
  return statistic.on && !std::holds_alternative<History>(statistic.values) &&
         !std::holds_alternative<Raw>(statistic.values);
}

void add_counted(Portion& portion, const Statistic& counted) {
  if (const auto distribution = distribution_of(counted, Detail::kFine)) {
    for (const Bin& bin : distribution->bins) {
      if (bin.count <= 0) continue;
      const Bucket more{bucket_of(middle(bin)), static_cast<float>(bin.count)};
      add_buckets(portion.buckets, std::span(&more, 1));
    }
  } else if (const auto* range = std::get_if<Range>(&counted.values); range && range->avg) {
    const double level = std::log2(std::max(0.5, *range->avg));
    portion.levels += 1;
    portion.level_sum += level;
    portion.level_squares += level * level;
  }
}

Portion part_of(Portion portion, std::uint64_t parts) {
  const double part = 1 / static_cast<double>(parts);
  portion.count *= part;
  portion.levels *= part;
  portion.level_sum *= part;
  portion.level_squares *= part;
  for (Bucket& each : portion.buckets) each.count *= static_cast<float>(part);
  return portion;
}

std::optional<Portion> portion_between(const Statistic& before, const Statistic& after) {
  if (before.data_us != after.data_us || after.type != before.type ||
      after.samples < before.samples) {
    return std::nullopt;
  }
  Portion made;
  if (const auto* last = std::get_if<Last>(&after.values); last && last->time_us) {
    made.value = static_cast<double>(last->x);
  }
  if (after.samples == before.samples) return made;
  Statistic counted = after;
  auto values = difference(before.values, after.values);
  if (!values) return std::nullopt;
  counted.values = *std::move(values);
  const bool is_view = !after.key("of").empty();
  const auto* growth = std::get_if<Value>(&counted.values);
  if (growth && !is_view)
    made.count = static_cast<double>(growth->total);
  else if (!is_view)
    made.count = static_cast<double>(after.samples - before.samples);
  add_counted(made, counted);
  return made;
}

double bucket_octaves_of(const Statistic& statistic) {
  constexpr double kFinest = 0.25;
  const auto distribution = distribution_of(statistic, Detail::kFine);
  const auto median = distribution ? percentile(*distribution, kMedian) : std::nullopt;
  const bool is_known = median && median->ends == Bin::Ends::kBoth;
  if (!is_known) return statistic.key("scale") == "log2" ? 1 : kFinest;
  const double low = std::max(1.0, static_cast<double>(median->low) - 1);
  const double high = std::max(low, static_cast<double>(median->high));
  return std::clamp(std::log2(high / low), kFinest, 1.0);
}

}  // namespace tallyfs::view
