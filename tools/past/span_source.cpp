#include "tools/past/span_source.h"

#include <algorithm>
#include <utility>

#include "tools/past/json_object.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs::past {
namespace {

// A command that looks at more interfaces looks at all: each block is unpacked once then.
constexpr std::size_t kSingleMax = 4;

}  // namespace

Result<std::unique_ptr<SpanSource>> SpanSource::open(StoreReader store, const Span& span) {
  std::unique_ptr<SpanSource> made(new SpanSource(std::move(store), span));
  auto parts = made->store_.cover(span);
  if (!parts) return parts.error();
  made->parts_ = std::move(parts).value();
  if (!made->parts_.empty()) {
    made->span_ = made->parts_.front().span;
    for (const TierSpan& each : made->parts_) {
      made->span_.begin_us = std::min(made->span_.begin_us, each.span.begin_us);
      made->span_.end_us = std::max(made->span_.end_us, each.span.end_us);
    }
  }
  auto series = made->store_.series();
  if (!series) return series.error();
  made->series_ = std::move(series).value();
  return made;
}

Result<std::vector<Fact>> SpanSource::facts() {
  auto made = store_.facts(span_);
  if (!made) return made;
  made.value().insert(made.value().end(), sums_.damaged.begin(), sums_.damaged.end());
  return made;
}

Result<void> SpanSource::load(const std::string& interface) {
  if (!loaded_.insert(interface).second) return {};
  const bool wants_all = loaded_.size() > kSingleMax;
  StoreReader::Wanted wanted;
  for (const StoredSeries& each : series_) {
    if (each.interface == interface || (wants_all && !loaded_.contains(each.interface))) {
      const auto shape = parse_json(each.shape);
      wanted[each.id] = shape ? precision_of(shape.value()) : 0;
    }
  }
  if (wants_all) {
    for (const StoredSeries& each : series_) loaded_.insert(each.interface);
  }
  auto sums = store_.sums(parts_, wanted);
  if (!sums) return sums.error();
  sums_.points.merge(sums.value().points);
  for (Fact& each : sums.value().damaged) sums_.damaged.push_back(std::move(each));
  return {};
}

Result<Json> SpanSource::tree() {
  Json interfaces{.kind = Json::Kind::kArray};
  for (auto each = series_.begin(); each != series_.end();) {
    const auto end = std::find_if(each, series_.end(), [&](const StoredSeries& other) {
      return other.interface != each->interface;
    });
    interfaces.items.push_back(JsonObject().text("interface", each->interface).take());
    each = end;
  }
  JsonObject made;
  made.number("format", kFormat).text("epoch", "");
  made.number("time_us", span_.end_us).number("realtime_us", span_.end_us);
  return made.put("interfaces", std::move(interfaces)).take();
}

Result<Json> SpanSource::statistic(const StoredSeries& series, const Point& point) const {
  const auto shape = parse_json(series.shape);
  if (!shape) return invalid("the store is damaged: the definition of " + series.name);
  const std::uint64_t observed_us = point.known * store_.tiers().front().step_us;
  const std::uint64_t begin_us = span_.end_us - std::min(span_.end_us, observed_us);
  return statistic_of(shape.value(), point, begin_us, store_.precision(parts_));
}

Result<Json> SpanSource::interface(const std::string& name) {
  const auto is_it = [&](const StoredSeries& each) { return each.interface == name; };
  if (std::ranges::none_of(series_, is_it)) {
    return Error{ErrorCode::kNotFound, "the store has no interface " + name};
  }
  if (auto done = load(name); !done) return done.error();
  Json statistics{.kind = Json::Kind::kArray};
  const StoredSeries* before = nullptr;
  for (const StoredSeries& each : series_) {
    const auto found = sums_.points.find(each.id);
    if (!is_it(each) || found == sums_.points.end() || found->second.known == 0) continue;
    auto made = statistic(each, found->second);
    if (!made) return made;
    // The newest definition of a name is shown.
    if (before && before->name == each.name) statistics.items.pop_back();
    statistics.items.push_back(std::move(made).value());
    before = &each;
  }
  JsonObject made;
  made.number("format", kFormat).text("interface", name).text("epoch", "").number("serial", 0);
  made.number("time_us", span_.end_us).number("realtime_us", span_.end_us);
  return made.put("statistics", std::move(statistics)).take();
}

}  // namespace tallyfs::past
