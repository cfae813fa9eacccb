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

Result<std::unique_ptr<SpanSource>> SpanSource::names(StoreReader store) {
  std::unique_ptr<SpanSource> made(new SpanSource(std::move(store), {}));
  made->has_names_alone_ = true;
  if (auto done = made->read_series(); !done) return done.error();
  return made;
}

Result<void> SpanSource::read_series() {
  auto series = store_.series();
  if (!series) return series.error();
  series_ = std::move(series).value();
  return {};
}

Result<std::unique_ptr<SpanSource>> SpanSource::open(StoreReader store, const Span& span,
                                                     const std::vector<std::string>& words) {
  std::unique_ptr<SpanSource> made(new SpanSource(std::move(store), span));
  const auto parts = made->store_.cover(span, 0);
  if (!parts) return parts.error();
  if (!parts.value().empty()) {
    made->span_ = parts.value().front().span;
    for (const TierSpan& each : parts.value()) {
      made->span_.begin_us = std::min(made->span_.begin_us, each.span.begin_us);
      made->span_.end_us = std::max(made->span_.end_us, each.span.end_us);
    }
  }
  if (auto done = made->read_series(); !done) return done.error();
  std::set<std::string> named;
  std::set<std::uint64_t> meant;
  for (const StoredSeries& each : made->series_) {
    std::string path = each.interface + "/" + each.name;
    if (std::ranges::count(words, path) == 0) continue;
    named.insert(std::move(path));
    meant.insert(each.id);
  }
  const bool are_names = !words.empty() && std::ranges::all_of(words, [&](const auto& each) {
    return named.contains(each);
  });
  if (are_names) {
    std::erase_if(made->series_, [&](const auto& each) { return !meant.contains(each.id); });
  }
  return made;
}

Result<std::vector<Fact>> SpanSource::facts() {
  auto made = store_.facts(span_);
  if (!made) return made;
  made.value().insert(made.value().end(), damaged().begin(), damaged().end());
  return made;
}

Result<void> SpanSource::load(const std::string& interface) {
  if (has_names_alone_ || !loaded_.insert(interface).second) return {};
  const bool wants_all = loaded_.size() > kSingleMax;
  StoreReader::Wanted wanted;
  unsigned precision = 0;
  for (const StoredSeries& each : series_) {
    if (each.interface == interface || (wants_all && !loaded_.contains(each.interface))) {
      const auto shape = parse_json(each.shape);
      const unsigned own = shape ? precision_of(shape.value()) : 0;
      wanted[each.id] = own;
      precision = std::max(precision, own);
    }
  }
  const auto parts = store_.cover(wanted_, precision);
  if (!parts) return parts.error();
  const unsigned highest = store_.precision(parts.value());
  for (const auto& [id, own] : wanted) precisions_[id] = std::min(own, highest);
  if (wants_all) {
    for (const StoredSeries& each : series_) loaded_.insert(each.interface);
  }
  auto sums = store_.sums(parts.value(), wanted);
  if (!sums) return sums.error();
  sums_.merge(sums.value());
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
  const auto precision = precisions_.find(series.id);
  return statistic_of(shape.value(), point, begin_us,
                      precision == precisions_.end() ? 0 : precision->second);
}

// Returns nullptr for what was not observed.
const Point* SpanSource::counted(const StoredSeries& series) const {
  static const Point kNothing;
  if (has_names_alone_) return &kNothing;
  const auto found = sums_.find(series.id);
  return found == sums_.end() || found->second.known == 0 ? nullptr : &found->second;
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
    const Point* const point = is_it(each) ? counted(each) : nullptr;
    if (!point) continue;
    auto made = statistic(each, *point);
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
