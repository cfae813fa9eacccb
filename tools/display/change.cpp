#include "tools/display/change.h"

#include <limits>
#include <map>

namespace tallyfs::view {
namespace {

// A counter that reached it counts no more.
constexpr Int128 kCounterMax = std::numeric_limits<std::uint64_t>::max();

std::optional<Int128> grown(Int128 before, Int128 after) {
  Int128 difference = 0;
  const bool is_known = after >= before && after != kCounterMax &&
                        !__builtin_sub_overflow(after, before, &difference);
  return is_known ? std::optional(difference) : std::nullopt;
}

std::optional<Values> subtract(const Value& before, const Value& after) {
  const auto total = grown(before.total, after.total);
  return total ? std::optional<Values>(Value{*total}) : std::nullopt;
}

// A sum may fall.
std::optional<Range> range_between(const Range& before, const Range& after) {
  Range made;
  if (!grown(before.number, after.number) ||
      __builtin_sub_overflow(after.sum, before.sum, &made.sum)) {
    return std::nullopt;
  }
  made.number = after.number - before.number;
  if (made.number != 0) made.avg = static_cast<double>(made.sum) / static_cast<double>(made.number);
  return made;
}

std::optional<Values> subtract(const Range& before, const Range& after) {
  const auto range = range_between(before, after);
  return range ? std::optional<Values>(*range) : std::nullopt;
}

std::optional<Values> subtract(const List& before, const List& after) {
  std::map<std::int64_t, Int128> old;
  for (std::size_t i = 0; i < before.x.size(); ++i) old[before.x[i]] = before.totals[i];
  List made;
  for (std::size_t i = 0; i < after.x.size(); ++i) {
    const auto found = old.find(after.x[i]);
    const auto total = grown(found == old.end() ? 0 : found->second, after.totals[i]);
    if (!total) return std::nullopt;
    if (found != old.end()) old.erase(found);
    if (*total == 0) continue;
    made.x.push_back(after.x[i]);
    made.totals.push_back(*total);
  }
  if (!old.empty()) return std::nullopt;
  return made;
}

std::optional<Values> subtract(const Array& before, const Array& after) {
  if (before.bounds != after.bounds || before.counts.size() != after.counts.size() ||
      after.below < before.below || after.above < before.above) {
    return std::nullopt;
  }
  Array made = after;
  for (std::size_t i = 0; i < made.counts.size(); ++i) {
    const auto count = grown(before.counts[i], after.counts[i]);
    if (!count) return std::nullopt;
    made.counts[i] = *count;
  }
  made.below -= before.below;
  made.above -= before.above;
  return made;
}

std::optional<Buckets> buckets_between(const Buckets& before, const Buckets& after) {
  std::map<std::int32_t, Int128> old;
  for (std::size_t i = 0; i < before.indexes.size(); ++i) {
    old[before.indexes[i]] = before.counts[i];
  }
  Buckets made;
  for (std::size_t i = 0; i < after.indexes.size(); ++i) {
    const auto count = grown(old[after.indexes[i]], after.counts[i]);
    if (!count) return std::nullopt;
    old.erase(after.indexes[i]);
    if (*count == 0) continue;
    made.indexes.push_back(after.indexes[i]);
    made.counts.push_back(*count);
  }
  for (const auto& [index, count] : old) {
    if (count != 0) return std::nullopt;
  }
  return made;
}

std::optional<Values> subtract(const Quantiles& before, const Quantiles& after) {
  auto positive = buckets_between(before.positive, after.positive);
  auto negative = buckets_between(before.negative, after.negative);
  const auto zero = grown(before.zero, after.zero);
  const auto all = range_between(before.all, after.all);
  if (!positive || !negative || !zero || !all) return std::nullopt;
  Quantiles made{.all = *all, .shown = after.shown, .zero = *zero};
  for (ShownQuantile& each : made.shown) each.value.reset();
  made.positive = *std::move(positive);
  made.negative = *std::move(negative);
  return made;
}

std::optional<Values> subtract(const Raw&, const Raw& after) { return after; }
std::optional<Values> subtract(const Last&, const Last& after) { return after; }
std::optional<Values> subtract(const History&, const History& after) { return after; }

// Whether the two rows say the same.
bool are_alike(const History& one, std::size_t i, const History& other, std::size_t j) {
  const auto is_same = [&](const auto& column, const auto& its) {
    return i < column.size() ? j < its.size() && column[i] == its[j] : j >= its.size();
  };
  if (one.quantiles.size() != other.quantiles.size()) return false;
  for (std::size_t k = 0; k < one.quantiles.size(); ++k) {
    if (!is_same(one.quantiles[k].values, other.quantiles[k].values)) return false;
  }
  return is_same(one.end_us, other.end_us) && is_same(one.totals, other.totals) &&
         is_same(one.number, other.number) && is_same(one.min, other.min) &&
         is_same(one.avg, other.avg) && is_same(one.max, other.max) && is_same(one.sum, other.sum);
}

// Columns that the mode lacks are empty.
template <typename Column>
void keep(Column& column, const std::vector<std::size_t>& rows) {
  if (column.empty()) return;
  Column kept;
  for (const std::size_t row : rows) kept.push_back(column[row]);
  column = std::move(kept);
}

History periods_since(const History& before, History after) {
  std::vector<std::size_t> rows;
  std::size_t was = 0;
  for (std::size_t i = 0; i < after.end_us.size(); ++i) {
    while (was < before.end_us.size() && before.end_us[was] < after.end_us[i]) ++was;
    if (!are_alike(before, was, after, i)) rows.push_back(i);
  }
  keep(after.totals, rows);
  keep(after.number, rows);
  keep(after.min, rows);
  keep(after.avg, rows);
  keep(after.max, rows);
  keep(after.sum, rows);
  for (QuantileColumn& each : after.quantiles) keep(each.values, rows);
  keep(after.end_us, rows);
  return after;
}

Raw samples_since(const Raw& before, Raw after) {
  if (before.serial.empty()) return after;
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < after.serial.size(); ++i) {
    if (after.serial[i] > before.serial.back()) rows.push_back(i);
  }
  keep(after.time_us, rows);
  keep(after.x, rows);
  keep(after.y, rows);
  keep(after.serial, rows);
  return after;
}

}  // namespace

Values entries_since(const Values& before, const Values& after) {
  const auto* const periods = std::get_if<History>(&before);
  if (const auto* now = std::get_if<History>(&after); now && periods) {
    return periods_since(*periods, *now);
  }
  const auto* const samples = std::get_if<Raw>(&before);
  if (const auto* now = std::get_if<Raw>(&after); now && samples) {
    return samples_since(*samples, *now);
  }
  return after;
}

std::optional<Values> difference(const Values& before, const Values& after) {
  return std::visit(
      [&](const auto& now) -> std::optional<Values> {
        const auto* was = std::get_if<std::decay_t<decltype(now)>>(&before);
        return was ? subtract(*was, now) : std::nullopt;
      },
      after);
}

Change change_between(const Interface& before, const Interface& after, std::string_view name) {
  Change made;
  const Statistic* const was = before.find(name);
  const Statistic* const now = after.find(name);
  if (!was || !now || before.epoch != after.epoch || after.time_us < before.time_us) return made;
  made.micros = after.time_us - before.time_us;
  if (now->data_us >= after.time_us && now->data_us != was->data_us) return made;
  if (now->samples >= was->samples) made.samples = now->samples - was->samples;
  if (!made.samples || now->data_us != was->data_us || now->type != was->type) return made;
  if (auto values = difference(was->values, now->values)) {
    made.counted = *now;
    made.counted->values = *std::move(values);
    made.counted->data_us = before.time_us;
    made.counted->samples = *made.samples;
    made.counted->hits_out_of_range -= std::min(was->hits_out_of_range, now->hits_out_of_range);
    made.counted->hits_missed -= std::min(was->hits_missed, now->hits_missed);
  }
  return made;
}

Change change_in(const Interface& span, const Statistic& statistic) {
  return {.micros = span.time_us - statistic.data_us,
          .samples = statistic.samples,
          .counted = statistic};
}

std::optional<Change> change_in(const Interface& span, std::string_view name) {
  const Statistic* const found = span.find(name);
  return found ? std::optional(change_in(span, *found)) : std::nullopt;
}

}  // namespace tallyfs::view
