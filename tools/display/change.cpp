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

}  // namespace

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
