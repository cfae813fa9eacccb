#include "tools/past/point_portions.h"

#include <algorithm>
#include <span>
#include <variant>

#include "tools/past/json_object.h"
#include "tools/tree/statistics_json.h"

namespace tallyfs::past {

PointPortions::PointPortions(view::Statistic like)
    : like_(std::move(like)), is_view_(!like_.key("of").empty()) {}

Result<view::Statistic> statistic_of_shape(const Json& shape, unsigned precision) {
  Json statistics{.kind = Json::Kind::kArray};
  statistics.items.push_back(statistic_of(shape, {}, 0, precision));
  JsonObject interface;
  interface.number("format", kFormat).put("statistics", std::move(statistics));
  auto made = to_interface(interface.take());
  if (!made) return made.error();
  if (made.value().statistics.empty()) return invalid("a shape without a statistic");
  return std::move(made.value().statistics.front());
}

Result<PointPortions> PointPortions::create(std::string_view shape, unsigned precision) {
  const auto json = parse_json(shape);
  if (!json) return json.error();
  auto like = statistic_of_shape(json.value(), std::min(precision, precision_of(json.value())));
  if (!like) return like.error();
  return PointPortions(std::move(like).value());
}

std::optional<std::int16_t> PointPortions::bucket_of(std::int64_t key) {
  const auto at = std::ranges::lower_bound(buckets_, key, {}, [](const auto& each) {
    return each.first;
  });
  if (at != buckets_.end() && at->first == key) return at->second;
  set_bins(like_.values, {{key, 1}});
  view::Portion alone;
  view::add_counted(alone, like_);
  std::optional<std::int16_t> made;
  if (!alone.buckets.empty()) made = alone.buckets.front().index;
  buckets_.insert(at, {key, made});
  return made;
}

view::Portion PointPortions::portion(const Point& point) {
  view::Portion made;
  if (point.last) made.value = static_cast<double>(*point.last);
  if (point.samples == 0 && point.cells.empty() && point.total == 0) return made;
  const bool is_counter = std::holds_alternative<view::Value>(like_.values);
  if (!is_view_) {
    made.count = is_counter ? static_cast<double>(point.total) : static_cast<double>(point.samples);
  }
  if (auto* const range = std::get_if<view::Range>(&like_.values)) {
    if (point.number == 0) return made;
    range->avg = static_cast<double>(point.total) / static_cast<double>(point.number);
    view::add_counted(made, like_);
  } else if (!std::holds_alternative<view::List>(like_.values)) {
    made.buckets.reserve(point.cells.size());
    for (const Cell& each : point.cells) {
      const auto index = bucket_of(each.key);
      if (!index) continue;
      const view::Bucket more{*index, static_cast<float>(each.count)};
      view::add_buckets(made.buckets, std::span(&more, 1));
    }
  }
  return made;
}

double PointPortions::bucket_octaves(const Point& point) {
  set_bins(like_.values, point.cells);
  return view::bucket_octaves_of(like_);
}

}  // namespace tallyfs::past
