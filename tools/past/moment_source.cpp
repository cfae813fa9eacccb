#include "tools/past/moment_source.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/base/saturating.h"
#include "tools/past/column.h"
#include "tools/past/json_object.h"
#include "tools/past/point_portions.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs::past {

Result<std::unique_ptr<MomentSource>> MomentSource::open(StoreReader store, const Span& span,
                                                         const Wanted& wanted) {
  std::unique_ptr<MomentSource> made(new MomentSource(std::move(store)));
  made->are_named_ = !wanted.statistics.empty();
  if (auto done = made->find_series(wanted); !done) return done.error();
  if (auto done = made->choose_tier(span, wanted); !done) return done.error();
  if (auto done = made->begin(span); !done) return done.error();
  return made;
}

Result<void> MomentSource::find_series(const Wanted& wanted) {
  auto found = store_.series();
  if (!found) return found.error();
  const std::set<std::string> named(wanted.statistics.begin(), wanted.statistics.end());
  std::size_t statistics = 0;
  std::string name;
  for (StoredSeries& each : found.value()) {
    if (!wanted.interface.empty() && each.interface != wanted.interface) continue;
    if (are_named_ && !named.contains(each.name)) continue;
    // A redefinition is a series of its own.
    if (std::exchange(name, each.name) != each.name) ++statistics;
    if (statistics > wanted.statistics_max) continue;
    auto shape = parse_json(each.shape);
    if (!shape) return invalid("the store is damaged: the definition of " + each.name);
    wanted_[each.id] = precision_of(shape.value());
    std::uint64_t& serial = serials_[each.interface];
    series_.push_back(
        {.stored = std::move(each), .shape = std::move(shape).value(), .serial = serial});
  }
  left_out_ = statistics - std::min(statistics, wanted.statistics_max);
  return {};
}

// A coarser tier reaches back at least as far.
Result<void> MomentSource::choose_tier(const Span& span, const Wanted& wanted) {
  const auto finest = store_.finest_tier(span.begin_us);
  if (!finest) return finest.error();
  tier_ = finest.value();
  const auto& tiers = store_.tiers();
  const auto exact =
      std::ranges::max_element(wanted_, {}, [](const auto& each) { return each.second; });
  const unsigned precision =
      exact == wanted_.end() ? 0 : std::min(exact->second, wanted.precision);
  const std::uint64_t length_us = span.end_us - span.begin_us;
  const unsigned had = std::min(precision, precision_of(tiers[tier_]));
  for (std::size_t i = tier_ + 1; wanted.points > 0 && i < tiers.size(); ++i) {
    if (length_us / tiers[i].step_us < wanted.points || precision_of(tiers[i]) < had) break;
    tier_ = i;
  }
  step_us_ = tiers[tier_].step_us;
  return {};
}

Result<void> MomentSource::begin(const Span& span) {
  const auto extent = store_.extent(tier_);
  if (!extent) return extent.error();
  const auto down = [&](std::uint64_t moment_us) { return moment_us - moment_us % step_us_; };
  span_ = {down(span.begin_us), down(span.end_us)};
  // A span that is shorter than a point has the one in which it begins.
  span_.end_us = std::max(span_.end_us, span_.begin_us + step_us_);
  const Span stored = extent.value().value_or(Span{});
  span_.begin_us = std::max(span_.begin_us, down(stored.begin_us));
  span_.end_us = std::max(span_.begin_us, std::min(span_.end_us, stored.end_us));
  now_us_ = loaded_us_ = span_.begin_us;
  if (auto done = load(now_us_ + step_us_); !done) return done;
  const Points none;
  for (Series& each : series_) book_counts(each, none);
  while (is_empty() && now_us_ < span_.end_us) {
    if (auto done = read_next(); !done) return done;
  }
  for (Series& each : series_) begin_again(each);
  return {};
}

// Where no block is, nothing was observed: the next step is to the begin of the next block.
Result<void> MomentSource::pass_over() {
  if (!is_empty() || now_us_ + step_us_ < loaded_us_) return {};
  const auto next = store_.next_block(tier_, loaded_us_);
  if (!next) return next.error();
  std::uint64_t next_us = std::min(next.value().value_or(span_.end_us), span_.end_us);
  next_us -= next_us % step_us_;
  if (next_us <= now_us_ + step_us_) return {};
  now_us_ = next_us - step_us_;
  loaded_us_ = std::max(loaded_us_, now_us_);
  return {};
}

// Points up to that moment, and those that follow in a part.
Result<void> MomentSource::load(std::uint64_t until_us) {
  while (loaded_us_ < std::min(until_us, span_.end_us)) {
    const std::uint64_t end_us = std::min(loaded_us_ + kBlockPoints * step_us_, span_.end_us);
    auto done = store_.points({tier_, {loaded_us_, end_us}}, wanted_,
                              [&](std::uint64_t number, std::uint64_t begin_us, Point&& point) {
                                add(points_[begin_us][number], point);
                              });
    if (!done) return done;
    loaded_us_ = end_us;
  }
  return {};
}

bool MomentSource::is_observed(const Points& points, std::uint64_t series) const {
  const auto found = points.find(series);
  const std::uint64_t pieces = step_us_ / store_.tiers().front().step_us;
  return found != points.end() && found->second.known * 10 >= pieces * 9;
}

// A statistic is there at the end of a point that was observed, and at the begin of one.
void MomentSource::book_counts(Series& series, const Points& points) {
  const std::uint64_t id = series.stored.id;
  const bool was_there = series.is_there;
  if (is_observed(points, id)) {
    const Point& point = points.at(id);
    add(series.sum, point);
    if (are_named_) series.newest = point;
    series.is_there = true;
    if (point.has_samples()) ++series.serial;
  } else {
    series.has_gap = true;
    series.is_there = is_observed(points_[now_us_], id);
    if (was_there || series.is_there) ++series.serial;
  }
  if (!was_there && series.is_there) ++series.serial;
}

Result<void> MomentSource::read_next() {
  if (auto done = pass_over(); !done) return done;
  now_us_ += step_us_;
  if (auto done = load(now_us_ + step_us_); !done) return done;
  const Points points = std::move(points_[now_us_ - step_us_]);
  points_.erase(points_.begin(), points_.lower_bound(now_us_));
  for (Series& each : series_) book_counts(each, points);
  return {};
}

void MomentSource::begin_again(Series& series) const {
  if (!series.has_gap) return;
  series.sum = {};
  series.data_us = now_us_;
}

bool MomentSource::is_empty() const {
  return std::ranges::none_of(series_, [](const Series& each) { return each.is_there; });
}

// Moments in which nothing was observed are passed over. A total that would lack what a gap had
// begins again at the moment that is shown.
Result<Source::Next> MomentSource::next(std::chrono::microseconds every) {
  const std::uint64_t wanted_us = now_us_ + static_cast<std::uint64_t>(every.count());
  for (Series& each : series_) each.has_gap = false;
  bool is_there = false;
  while (now_us_ < span_.end_us && (!is_there || now_us_ < wanted_us)) {
    if (auto done = read_next(); !done) return done.error();
    is_there = !is_empty();
  }
  for (Series& each : series_) begin_again(each);
  return is_there ? Next::kMoment : Next::kEnd;
}

// If the name has two definitions, this is the newer one.
Result<std::optional<MomentSource::Newest>> MomentSource::newest(const std::string& statistic) {
  const auto name_of = [](const Series& each) -> const std::string& { return each.stored.name; };
  const auto first = std::ranges::lower_bound(series_, statistic, {}, name_of);
  auto found = std::ranges::upper_bound(series_, statistic, {}, name_of);
  while (found != first && !std::prev(found)->is_there) --found;
  if (found == first) return std::optional<Newest>();
  --found;
  if (!found->like) {
    auto like = statistic_of_shape(found->shape, store_.precision({{tier_, span_}}));
    if (!like) return invalid("the store is damaged: the definition of " + found->stored.name);
    found->like = std::move(like).value();
  }
  Newest made{.definition = &*found->like, .counted = std::nullopt};
  if (!found->has_gap) {
    made.counted = *found->like;
    made.counted->data_us = now_us_ - step_us_;
    set_counted(*made.counted, found->newest);
  }
  return std::optional(std::move(made));
}

Result<Json> MomentSource::tree() {
  Json interfaces{.kind = Json::Kind::kArray};
  for (auto each = series_.begin(); each != series_.end();) {
    const std::string& name = each->stored.interface;
    std::uint64_t statistics = 0;
    std::uint64_t samples = 0;
    const std::uint64_t serial = each->serial;
    for (; each != series_.end() && each->stored.interface == name; ++each) {
      if (!each->is_there) continue;
      ++statistics;
      // The samples of a view are those of its statistic.
      if (each->shape.text_of("of").empty()) add_saturating(samples, each->sum.samples);
    }
    if (statistics == 0) continue;
    JsonObject summary;
    summary.text("interface", name).number("serial", serial).number("statistics", statistics);
    interfaces.items.push_back(summary.number("on", statistics).number("samples", samples).take());
  }
  JsonObject made;
  made.number("format", kFormat).text("epoch", "");
  made.number("time_us", now_us_).number("realtime_us", now_us_);
  return made.put("interfaces", std::move(interfaces)).take();
}

// If a name has two definitions, the newer one is shown.
Result<Json> MomentSource::interface(const std::string& name) {
  Json statistics{.kind = Json::Kind::kArray};
  const unsigned precision = store_.precision({{tier_, span_}});
  const Series* before = nullptr;
  for (const Series& each : series_) {
    if (!each.is_there || each.stored.interface != name) continue;
    if (before && before->stored.name == each.stored.name) statistics.items.pop_back();
    statistics.items.push_back(statistic_of(each.shape, each.sum, each.data_us, precision));
    before = &each;
  }
  if (!serials_.contains(name)) {
    return Error{ErrorCode::kNotFound, "the store has no interface " + name};
  }
  JsonObject made;
  made.number("format", kFormat).text("interface", name).text("epoch", "");
  made.number("serial", serials_.at(name)).number("time_us", now_us_);
  made.number("realtime_us", now_us_);
  return made.put("statistics", std::move(statistics)).take();
}

}  // namespace tallyfs::past
