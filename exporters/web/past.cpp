#include "exporters/web/past.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace tallyfs::web {
namespace {

std::uint64_t to_count(Int128 count) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (count <= 0) return 0;
  return count > Int128{kMost} ? kMost : static_cast<std::uint64_t>(count);
}

void add_hit(std::vector<Hit>& to, std::int64_t index, Hit::Side side, Int128 count) {
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

constexpr std::size_t kListHitsMax = 32;  // of a list in an interval: those that grew most

std::vector<Hit> hits_of_list(const view::List& list) {
  std::vector<Hit> made;
  for (std::size_t i = 0; i < std::min(list.x.size(), list.totals.size()); ++i) {
    add_hit(made, list.x[i], Hit::Side::kPositive, list.totals[i]);
  }
  std::ranges::stable_sort(made, std::greater<>(), &Hit::count);
  if (made.size() > kListHitsMax) made.resize(kListHitsMax);
  return made;
}

Int128 growth_of(const view::List& list) {
  Int128 sum = 0;
  for (const Int128 each : list.totals) sum += std::max<Int128>(0, each);
  return sum;
}

// No function, whose address a sort would call.
constexpr auto place_of = [](const Hit& hit) { return std::tuple(hit.side, hit.index); };

// Copies the counts of an interval, in the form of the statistic's type.
void take(PastColumn& column, const view::Change& change) {
  const view::Values& values = change.counted->values;
  column.samples = change.samples.value_or(0);
  column.out_of_range = change.counted->hits_out_of_range;
  column.missed = change.counted->hits_missed;
  column.hits = hits_of(values);
  if (const auto* value = std::get_if<view::Value>(&values)) column.sum = value->total;
  if (const auto* range = std::get_if<view::Range>(&values)) column.sum = range->sum;
  if (const auto* list = std::get_if<view::List>(&values)) column.sum = growth_of(*list);
  const auto* last = std::get_if<view::Last>(&values);
  if (last && last->time_us) column.last = last->x;
}

// Adds the column of another statistic at the same time.
void add_column(PastColumn& to, const PastColumn& more) {
  to.state = std::max(to.state, more.state);
  to.samples += more.samples;
  to.out_of_range += more.out_of_range;
  to.missed += more.missed;
  to.sum += more.sum;
  to.hits.insert(to.hits.end(), more.hits.begin(), more.hits.end());
}

}  // namespace

bool has_bins(const view::Statistic& statistic) {
  return std::holds_alternative<view::Array>(statistic.values) ||
         std::holds_alternative<view::Quantiles>(statistic.values);
}

bool keeps_past(const view::Statistic& statistic) {
  return !std::holds_alternative<view::History>(statistic.values) &&
         !std::holds_alternative<view::Raw>(statistic.values);
}

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
    take(column, change);
    if (interval.seconds > 1) column.state = PastColumn::State::kGap;
  } else {
    column.state = PastColumn::State::kUnknown;
  }
  push(std::move(column));
}

// An unchanged serial number proves that nothing was counted, also after missed readings. The last
// X stays.
void Past::add_quiet(const Interval& interval) {
  PastColumn column{.interval = interval};
  if (!columns_.empty()) column.last = columns_.back().last;
  push(std::move(column));
}

void Past::add_missing(const Interval& interval) {
  push({.interval = interval, .state = PastColumn::State::kMissing});
}

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

Past Past::within(std::uint64_t begin_us, std::uint64_t end_us) const {
  constexpr std::uint64_t kMicros = 1'000'000;
  Past made;
  made.bins_ = bins_;
  std::uint64_t known_us = begin_us;  // up to there made has columns
  const auto fill = [&](std::uint64_t until_us) {
    const std::uint64_t seconds = until_us > known_us ? (until_us - known_us) / kMicros : 0;
    if (seconds > 0) made.add_missing({until_us, seconds});
  };
  for (const PastColumn& each : columns_) {
    const std::uint64_t middle_us = each.begin_us() / 2 + each.interval.end_us / 2;
    if (middle_us < begin_us || middle_us >= end_us) continue;
    fill(each.begin_us());
    made.push(each);
    known_us = each.interval.end_us;
  }
  fill(end_us);
  return made;
}

Past sum_of(const std::vector<Past>& parts) {
  Past made;
  std::map<std::uint64_t, PastColumn> columns;  // by their ends, which all have in common
  for (const Past& part : parts) {
    made.bins_ = part.bins_;
    for (const PastColumn& each : part.columns_) {
      if (each.state == PastColumn::State::kMissing) continue;
      const auto [found, is_new] = columns.try_emplace(each.interval.end_us, each);
      if (!is_new) add_column(found->second, each);
    }
  }
  for (auto& [end_us, column] : columns) {
    column.hits = summed(std::move(column.hits));
    made.push(std::move(column));
  }
  return made;
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
  } else if (const auto* list = std::get_if<view::List>(&values)) {
    made = hits_of_list(*list);
  } else if (const auto* range = std::get_if<view::Range>(&values)) {
    add_hit(made, 0, Hit::Side::kZero, range->number);
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

PastColumn joined(const std::deque<PastColumn>& columns, std::size_t first, std::size_t last) {
  if (last == first + 1) return columns[first];
  PastColumn made{.interval = {columns[last - 1].interval.end_us, 0}};
  bool is_known = false;
  for (std::size_t i = first; i < last; ++i) {
    const PastColumn& each = columns[i];
    made.interval.seconds += each.interval.seconds;
    made.state = std::max(made.state, each.state);
    if (!each.is_known()) continue;
    is_known = true;
    made.interval.micros += static_cast<std::uint64_t>(each.length_s() * 1e6);
    made.samples += each.samples;
    made.out_of_range += each.out_of_range;
    made.missed += each.missed;
    made.sum += each.sum;
    made.last = each.last;
    made.hits.insert(made.hits.end(), each.hits.begin(), each.hits.end());
  }
  if (is_known && !made.is_known()) made.state = PastColumn::State::kGap;
  made.hits = summed(std::move(made.hits));
  return made;
}

PastColumn joined_known(const std::deque<PastColumn>& columns) {
  std::deque<PastColumn> known;
  for (const PastColumn& each : columns) {
    if (each.is_known()) known.push_back(each);
  }
  if (known.empty()) return {.interval = {0, 0}, .state = PastColumn::State::kMissing};
  return joined(known, 0, known.size());
}

view::Statistic with_column(const view::Statistic& like, const PastColumn& column) {
  view::Statistic made = has_bins(like) ? with_hits(like, column.hits) : like;
  made.samples = column.samples;
  made.hits_out_of_range = column.out_of_range;
  made.hits_missed = column.missed;
  if (std::holds_alternative<view::Value>(made.values)) made.values = view::Value{column.sum};
  if (std::holds_alternative<view::Range>(made.values)) {
    view::Range range{.sum = column.sum};
    for (const Hit& hit : column.hits) range.number += hit.count;
    if (range.number > 0) {
      range.avg = static_cast<double>(range.sum) / static_cast<double>(range.number);
    }
    made.values = range;
  }
  if (auto* list = std::get_if<view::List>(&made.values)) {
    std::vector<Hit> hits = summed(column.hits);
    std::ranges::stable_sort(hits, std::greater<>(), &Hit::count);
    *list = {};
    for (const Hit& hit : hits) {
      list->x.push_back(hit.index);
      list->totals.push_back(hit.count);
    }
  }
  if (auto* last = std::get_if<view::Last>(&made.values)) {
    *last = {};
    if (column.last) *last = {.time_us = like.data_us, .x = *column.last};
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
    buckets.indexes.push_back(static_cast<std::int32_t>(hit.index));
    buckets.counts.push_back(hit.count);
  }
  made.values = std::move(sorted);
  return made;
}

}  // namespace tallyfs::web
