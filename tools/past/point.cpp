// Longer than most: each type of statistic becomes a point, and JSON again.
#include "tools/past/point.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/base/decimal.h"
#include "core/base/saturating.h"
#include "core/base/text.h"
#include "tools/display/change.h"

namespace tallyfs::past {
namespace {

// The key of a bucket has its sign in the two lowest bits.
constexpr std::int64_t kPositive = 1;
constexpr std::int64_t kNegative = 2;
constexpr std::int64_t kZero = 3;
constexpr std::int64_t kSigns = 4;
// An array's samples below and above its bounds, of latency histograms.
constexpr std::int64_t kBelow = -1;
constexpr std::int64_t kAbove = -2;

std::vector<Cell> merged(const std::vector<Cell>& a, const std::vector<Cell>& b) {
  std::vector<Cell> made;
  made.reserve(a.size() + b.size());
  auto left = a.begin();
  for (const Cell& each : b) {
    for (; left != a.end() && left->key < each.key; ++left) made.push_back(*left);
    made.push_back(each);
    if (left == a.end() || left->key != each.key) continue;
    add_saturating(made.back().count, left->count);
    ++left;
  }
  made.insert(made.end(), left, a.end());
  return made;
}

// Gathers the cells of a point; counts of 0 are none.
class Gatherer {
 public:
  explicit Gatherer(Point& point) : point_(point) {}

  void operator()(const view::Value& value) { point_.total = value.total; }
  void operator()(const view::Range& range) {
    point_.number = range.number;
    point_.total = range.sum;
  }
  void operator()(const view::List& list) {
    for (std::size_t i = 0; i < list.x.size(); ++i) add(list.x[i], list.totals[i]);
    sort();
    if (point_.cells.size() > kListEntries) keep_largest(point_);
  }
  void operator()(const view::Array& array) {
    for (std::size_t i = 0; i < array.counts.size(); ++i) {
      add(static_cast<std::int64_t>(i), array.counts[i]);
    }
    add(kBelow, static_cast<Int128>(array.below));
    add(kAbove, static_cast<Int128>(array.above));
    sort();
  }
  void operator()(const view::Quantiles& quantiles) {
    (*this)(quantiles.all);
    add(quantiles.positive, kPositive);
    add(quantiles.negative, kNegative);
    add(kZero, quantiles.zero);
    sort();
  }
  void operator()(const view::Last& last) {
    if (last.time_us) point_.last = last.x;
  }
  void operator()(const view::Raw&) {}
  void operator()(const view::History&) {}

 private:
  void add(const view::Buckets& buckets, std::int64_t sign) {
    for (std::size_t i = 0; i < buckets.indexes.size(); ++i) {
      add(std::int64_t{buckets.indexes[i]} * kSigns + sign, buckets.counts[i]);
    }
  }
  void add(std::int64_t key, Int128 count) {
    constexpr Int128 kMax = std::numeric_limits<std::uint64_t>::max();
    if (count <= 0) return;
    point_.cells.push_back({key, static_cast<std::uint64_t>(std::min(count, kMax))});
  }
  void sort() { std::ranges::sort(point_.cells, {}, &Cell::key); }

  Point& point_;
};

const view::Range* range_of(const view::Values& values) {
  if (const auto* quantiles = std::get_if<view::Quantiles>(&values)) return &quantiles->all;
  return std::get_if<view::Range>(&values);
}

// The records of `now` that are not those of `before`.
void find_records(Point& point, const view::Range* before, const view::Range& now) {
  if (!before || before->min != now.min) point.min = now.min;
  if (!before || before->max != now.max) point.max = now.max;
}

std::uint64_t grown(std::uint64_t before, std::uint64_t now) { return now - std::min(before, now); }

Json number(const std::string& digits) { return {.kind = Json::Kind::kNumber, .text = digits}; }
template <typename Integer>
Json number(Integer value) {
  std::string text;
  JsonWriter(text).number(value);
  return number(text);
}
Json fixed(Int128 value, unsigned decimals) {
  std::string text;
  append_fixed(text, value, decimals);
  return number(text);
}
Json fixed(const std::optional<std::int64_t>& value, unsigned decimals) {
  return value ? fixed(*value, decimals) : Json();
}

Json array(std::vector<Json> items) {
  return {.kind = Json::Kind::kArray, .items = std::move(items)};
}
Json object() { return {.kind = Json::Kind::kObject}; }
void put(Json& to, std::string_view key, Json value) {
  to.keys.emplace_back(key);
  to.items.push_back(std::move(value));
}

// "avg" has three decimals more than X, as the daemon prints it.
void put_range(Json& to, std::string_view count, const Point& point, unsigned decimals) {
  put(to, count, number(point.number));
  put(to, "min", fixed(point.min, decimals));
  if (point.number > 0) {
    std::string text;
    const double power = static_cast<double>(kPowersOfTen[decimals]);
    JsonWriter(text).decimals(
        static_cast<double>(point.total) / static_cast<double>(point.number) / power,
        3 + static_cast<int>(decimals));
    put(to, "avg", number(text));
  } else {
    put(to, "avg", Json());
  }
  put(to, "max", fixed(point.max, decimals));
  put(to, "sum", fixed(point.total, decimals));
}

Json array_values(const Json& shape, const Point& point) {
  const Json* const bounds = shape.find("bounds");
  std::vector<std::uint64_t> counts(bounds ? bounds->items.size() + 1 : 0);
  std::uint64_t below = 0;
  std::uint64_t above = 0;
  for (const Cell& each : point.cells) {
    if (each.key == kBelow) below = each.count;
    if (each.key == kAbove) above = each.count;
    if (each.key >= 0 && static_cast<std::uint64_t>(each.key) < counts.size()) {
      counts[static_cast<std::size_t>(each.key)] = each.count;
    }
  }
  Json made = object();
  put(made, "bounds", bounds ? *bounds : array({}));
  Json column = array({});
  for (const std::uint64_t each : counts) column.items.push_back(number(each));
  put(made, "counts", std::move(column));
  if (below > 0) put(made, "below", number(below));
  if (above > 0) put(made, "above", number(above));
  return made;
}

Json buckets(const Point& point, std::int64_t sign) {
  Json indexes = array({});
  Json counts = array({});
  for (const Cell& each : point.cells) {
    if ((each.key & (kSigns - 1)) != sign) continue;
    indexes.items.push_back(number((each.key - sign) / kSigns));
    counts.items.push_back(number(each.count));
  }
  Json made = object();
  put(made, "indexes", std::move(indexes));
  put(made, "counts", std::move(counts));
  return made;
}

Json quantiles_values(const Json& shape, const Point& point, unsigned decimals) {
  Json made = object();
  put_range(made, "count", point, decimals);
  if (const Json* const shown = shape.find("quantiles")) put(made, "quantiles", *shown);
  const auto zero = std::ranges::find(point.cells, kZero, &Cell::key);
  Json all = object();
  put(all, "zero", number(zero == point.cells.end() ? 0 : zero->count));
  put(all, "positive", buckets(point, kPositive));
  put(all, "negative", buckets(point, kNegative));
  put(made, "buckets", std::move(all));
  return made;
}

Json list_values(const Point& point, unsigned decimals) {
  Json x = array({});
  Json totals = array({});
  for (const Cell& each : point.cells) {
    x.items.push_back(fixed(Int128{each.key}, decimals));
    totals.items.push_back(number(each.count));
  }
  Json made = object();
  put(made, "x", std::move(x));
  put(made, "totals", std::move(totals));
  return made;
}

// of: the shape of the statistic; shape: that of its values.
Json values_of(const Json& of, const Json& shape, const Point& point, std::uint64_t data_us) {
  const std::string_view type = of.text_of("type");
  const auto decimals =
      static_cast<unsigned>(std::min<std::uint64_t>(of.number_of("decimals"), kDecimalsMax));
  if (type == "array") return array_values(shape, point);
  if (type == "quantiles") return quantiles_values(shape, point, decimals);
  if (type == "list") return list_values(point, decimals);
  Json made = object();
  const bool is_of_x = of.text_of("mode") == "products";
  if (type == "value") put(made, "total", fixed(point.total, is_of_x ? decimals : 0));
  if (type == "range") put_range(made, "number", point, decimals);
  if (type == "last") {
    put(made, "time_us", point.last ? number(data_us) : Json());
    put(made, "x", fixed(Int128{point.last.value_or(0)}, decimals));
  }
  return made;
}

// Keys that move while a definition stays.
bool is_moving(std::string_view key) {
  return key.ends_with("_us") || key.starts_with("hits_") || key == "samples" || key == "serial" ||
         key == "view" || key == "on";
}

// Each percentile that is shown, without its value.
Json labels_of(const Json& quantiles) {
  Json made = array({});
  for (const Json& each : quantiles.items) {
    Json label = object();
    put(label, "q", number(std::string(each.text_of("q"))));
    made.items.push_back(std::move(label));
  }
  return made;
}

Json shape_of_values(const Json& values) {
  Json made = object();
  if (const Json* const bounds = values.find("bounds")) put(made, "bounds", *bounds);
  if (const Json* const shown = values.find("quantiles")) put(made, "quantiles", labels_of(*shown));
  return made;
}

}  // namespace

bool Point::has_samples() const {
  return samples != 0 || out_of_range != 0 || missed != 0 || number != 0 || total != 0 || min ||
         max || last || !cells.empty();
}

void add(Point& sum, const Point& more) {
  add_saturating(sum.known, more.known);
  add_saturating(sum.samples, more.samples);
  add_saturating(sum.out_of_range, more.out_of_range);
  add_saturating(sum.missed, more.missed);
  add_saturating(sum.number, more.number);
  add_saturating(sum.total, more.total);
  // A later record is beyond an earlier one, unless a reset lies between.
  if (more.min) sum.min = std::min(*more.min, sum.min.value_or(*more.min));
  if (more.max) sum.max = std::max(*more.max, sum.max.value_or(*more.max));
  if (more.last) sum.last = more.last;
  if (sum.cells.empty())
    sum.cells = more.cells;
  else if (!more.cells.empty())
    sum.cells = merged(sum.cells, more.cells);
}

void keep_largest(Point& point) {
  if (point.cells.size() <= kListEntries) return;
  const auto end = point.cells.begin() + kListEntries;
  std::ranges::nth_element(point.cells, end, std::ranges::greater(), &Cell::count);
  for (auto each = end; each != point.cells.end(); ++each) {
    add_saturating(point.missed, each->count);
  }
  point.cells.erase(end, point.cells.end());
  std::ranges::sort(point.cells, {}, &Cell::key);
}

Point quiet_point(const view::Statistic& statistic) {
  Point made{.known = 1};
  Gatherer gather(made);
  if (const auto* last = std::get_if<view::Last>(&statistic.values)) gather(*last);
  return made;
}

void lower_precision(Point& point, unsigned from, unsigned to) {
  if (to >= from) return;
  const std::int64_t parts = std::int64_t{1} << (from - to);
  for (Cell& each : point.cells) {
    if (each.key == kZero) continue;
    const std::int64_t sign = each.key & (kSigns - 1);
    const std::int64_t index = (each.key - sign) / kSigns;
    // Rounded up: a bucket holds its upper end.
    const std::int64_t lower = index / parts + (index % parts > 0 ? 1 : 0);
    each.key = lower * kSigns + sign;
  }
  std::ranges::sort(point.cells, {}, &Cell::key);
  std::vector<Cell> made;
  for (const Cell& each : point.cells) {
    if (made.empty() || made.back().key != each.key)
      made.push_back(each);
    else
      add_saturating(made.back().count, each.count);
  }
  point.cells = std::move(made);
}

Adding adding_of(const view::Statistic& statistic) {
  const bool has_buckets = statistic.type == "quantiles";
  const auto precision = has_buckets ? parse_unsigned(statistic.key("precision")) : std::nullopt;
  return {.is_list = statistic.type == "list",
          .precision = static_cast<unsigned>(precision.value_or(0))};
}

bool is_stored(const view::Statistic& statistic) {
  return statistic.type != "history" && statistic.type != "raw";
}

std::optional<Point> point_between(const view::Statistic* before, const view::Statistic& now) {
  const bool is_other =
      before && (before->type != now.type || before->decimals() != now.decimals());
  if (is_other || (before && before->samples > now.samples)) return std::nullopt;
  const auto values = before ? view::difference(before->values, now.values) : now.values;
  if (!values) return std::nullopt;
  Point made{.known = 1};
  made.samples = now.samples - (before ? before->samples : 0);
  made.out_of_range = grown(before ? before->hits_out_of_range : 0, now.hits_out_of_range);
  made.missed = grown(before ? before->hits_missed : 0, now.hits_missed);
  std::visit(Gatherer(made), *values);
  if (const view::Range* const range = range_of(now.values); range && made.number > 0) {
    find_records(made, before ? range_of(before->values) : nullptr, *range);
  }
  return made;
}

Json shape_of(const Json& statistic) {
  Json made = object();
  for (std::size_t i = 0; i < statistic.keys.size(); ++i) {
    const std::string& key = statistic.keys[i];
    if (is_moving(key)) continue;
    put(made, key, key == "values" ? shape_of_values(statistic.items[i]) : statistic.items[i]);
  }
  return made;
}

void set_bins(view::Values& values, const std::vector<Cell>& cells) {
  if (auto* const array = std::get_if<view::Array>(&values)) {
    std::ranges::fill(array->counts, Int128{0});
    for (const Cell& each : cells) {
      const auto bin = static_cast<std::uint64_t>(each.key);  // of kBelow and kAbove it is large
      if (bin < array->counts.size()) array->counts[bin] = each.count;
    }
  }
  auto* const quantiles = std::get_if<view::Quantiles>(&values);
  if (!quantiles) return;
  quantiles->zero = 0;
  quantiles->positive = quantiles->negative = {};
  for (const Cell& each : cells) {
    const std::int64_t sign = each.key & (kSigns - 1);
    if (sign == kZero) {
      quantiles->zero = each.count;
      continue;
    }
    view::Buckets& buckets = sign == kPositive ? quantiles->positive : quantiles->negative;
    buckets.indexes.push_back(static_cast<std::int32_t>((each.key - sign) / kSigns));
    buckets.counts.push_back(each.count);
  }
}

void set_counted(view::Statistic& statistic, const Point& point) {
  statistic.samples = point.samples;
  statistic.hits_out_of_range = point.out_of_range;
  statistic.hits_missed = point.missed;
  set_bins(statistic.values, point.cells);
  view::Range range{.number = point.number, .sum = point.total};
  if (point.number > 0) {
    range.avg = static_cast<double>(point.total) / static_cast<double>(point.number);
  }
  if (auto* const value = std::get_if<view::Value>(&statistic.values)) value->total = point.total;
  if (auto* const of = std::get_if<view::Range>(&statistic.values)) *of = range;
  if (auto* const of = std::get_if<view::Quantiles>(&statistic.values)) of->all = range;
  if (auto* const list = std::get_if<view::List>(&statistic.values)) {
    *list = {};
    for (const Cell& each : point.cells) {
      list->x.push_back(each.key);
      list->totals.push_back(each.count);
    }
  }
  if (auto* const last = std::get_if<view::Last>(&statistic.values)) {
    *last = {};
    if (point.last) *last = {.time_us = statistic.data_us, .x = *point.last};
  }
}

unsigned precision_of(const Json& shape) {
  return shape.text_of("type") == "quantiles" ? static_cast<unsigned>(shape.number_of("precision"))
                                              : 0;
}

Json statistic_of(const Json& shape, const Point& point, std::uint64_t data_us,
                  unsigned precision) {
  Json made = object();
  for (std::size_t i = 0; i < shape.keys.size(); ++i) {
    const bool is_precision = shape.keys[i] == "precision" && precision_of(shape) > precision;
    if (shape.keys[i] != "values") {
      put(made, shape.keys[i], is_precision ? number(precision) : shape.items[i]);
    }
    if (shape.keys[i] == "name") put(made, "on", number(std::string("1")));
  }
  put(made, "hits_out_of_range", number(point.out_of_range));
  put(made, "hits_missed", number(point.missed));
  put(made, "data_us", number(data_us));
  put(made, "samples", number(point.samples));
  const Json* const values = shape.find("values");
  put(made, "values", values_of(shape, values ? *values : Json(), point, data_us));
  return made;
}

}  // namespace tallyfs::past
