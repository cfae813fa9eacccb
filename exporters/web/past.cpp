#include "exporters/web/past.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace tallyfs::web {
namespace {

std::uint64_t to_count(Int128 count) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (count <= 0) return 0;
  return count > Int128{kMost} ? kMost : static_cast<std::uint64_t>(count);
}

void add_hit(std::vector<Hit>& to, std::int32_t index, Hit::Side side, Int128 count) {
  if (count > 0) to.push_back({index, side, to_count(count)});
}

void add_buckets(std::vector<Hit>& to, const view::Buckets& buckets, Hit::Side side) {
  for (std::size_t i = 0; i < std::min(buckets.indexes.size(), buckets.counts.size()); ++i) {
    add_hit(to, buckets.indexes[i], side, buckets.counts[i]);
  }
}

// Two statistics with the same text have the same bins.
std::string bins_text(const view::Statistic& statistic) {
  std::string text = statistic.type;
  for (const char* key : {"scale", "base_interval", "range_min", "range_max", "precision"}) {
    text.append(" ").append(statistic.key(key));
  }
  return text.append(" ").append(statistic.units);
}

auto place_of(const Hit& hit) { return std::tuple(hit.side, hit.index); }

}  // namespace

void Past::fit(const view::Statistic& now) {
  std::string bins = bins_text(now);
  if (bins == bins_) return;
  keep(0);
  bins_ = std::move(bins);
}

void Past::add(const view::Statistic& now, const view::Change& change, const Interval& interval) {
  fit(now);
  PastColumn column{.interval = interval};
  if (change.counted) {
    column.hits = hits_of(change.counted->values);
    if (interval.seconds > 1) column.state = PastColumn::State::kGap;
  } else {
    column.state = PastColumn::State::kUnknown;
  }
  push(std::move(column));
}

// Of a gap, too, it is known that nothing was counted.
void Past::add_quiet(const Interval& interval) { push({.interval = interval}); }

void Past::push(PastColumn column) {
  seconds_ += column.interval.seconds;
  columns_.push_back(std::move(column));
}

void Past::keep(std::uint64_t seconds) {
  while (seconds_ > seconds) {
    seconds_ -= columns_.front().interval.seconds;
    columns_.pop_front();
  }
}

std::size_t Past::bytes() const {
  std::size_t sum = columns_.size() * sizeof(PastColumn);
  for (const PastColumn& column : columns_) sum += column.hits.capacity() * sizeof(Hit);
  return sum;
}

std::vector<Hit> hits_of(const view::Values& values) {
  std::vector<Hit> made;
  if (const auto* array = std::get_if<view::Array>(&values)) {
    for (std::size_t i = 0; i < array->counts.size(); ++i) {
      add_hit(made, static_cast<std::int32_t>(i), Hit::Side::kPositive, array->counts[i]);
    }
  } else if (const auto* quantiles = std::get_if<view::Quantiles>(&values)) {
    add_buckets(made, quantiles->negative, Hit::Side::kNegative);
    add_hit(made, 0, Hit::Side::kZero, quantiles->zero);
    add_buckets(made, quantiles->positive, Hit::Side::kPositive);
  }
  if (!std::ranges::is_sorted(made, {}, place_of)) std::ranges::sort(made, {}, place_of);
  return made;
}

std::vector<Hit> summed(std::vector<Hit> hits) {
  std::ranges::sort(hits, {}, place_of);
  std::vector<Hit> made;
  for (const Hit& hit : hits) {
    if (made.empty() || place_of(made.back()) != place_of(hit)) {
      made.push_back(hit);
    } else {
      made.back().count = to_count(Int128{made.back().count} + hit.count);
    }
  }
  return made;
}

view::Statistic with_hits(const view::Statistic& like, const std::vector<Hit>& hits) {
  view::Statistic made = like;
  if (auto* array = std::get_if<view::Array>(&made.values)) {
    std::ranges::fill(array->counts, Int128{0});
    array->below = array->above = 0;
    for (const Hit& hit : hits) {
      const auto place = static_cast<std::size_t>(hit.index);
      if (place < array->counts.size()) array->counts[place] += hit.count;
    }
    return made;
  }
  view::Quantiles sorted;
  for (const Hit& hit : summed(hits)) {
    sorted.all.number += hit.count;
    if (hit.side == Hit::Side::kZero) {
      sorted.zero += hit.count;
      continue;
    }
    auto& buckets = hit.side == Hit::Side::kPositive ? sorted.positive : sorted.negative;
    buckets.indexes.push_back(hit.index);
    buckets.counts.push_back(hit.count);
  }
  made.values = std::move(sorted);
  return made;
}

}  // namespace tallyfs::web
