#include "tools/tree/statistics_json.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "core/base/text.h"

namespace tallyfs {
namespace {

// Reads members of an object. A member that is missing or of another kind is 0, empty or absent.
class Members {
 public:
  // X in it have so many decimal places.
  explicit Members(const Json& json, unsigned decimals = 0) : json_(json), decimals_(decimals) {}

  unsigned decimals() const { return decimals_; }

  std::string text(std::string_view key) const {
    const Json* const found = json_.find(key);
    return found ? found->text : std::string();
  }
  std::uint64_t count(std::string_view key) const { return known_count(key).value_or(0); }
  std::optional<std::uint64_t> known_count(std::string_view key) const {
    return parse_unsigned(json_.text_of(key));
  }
  const std::vector<Json>& items(std::string_view key) const {
    static const std::vector<Json> kNone;
    const Json* const found = json_.find(key);
    return found ? found->items : kNone;
  }
  const Json& member(std::string_view key) const {
    static const Json kNull;
    const Json* const found = json_.find(key);
    return found ? *found : kNull;
  }
  bool has(std::string_view key) const { return json_.find(key) != nullptr; }

 private:
  const Json& json_;
  const unsigned decimals_;
};

// X with decimal places, all of which are shown, is the integer of its digits.
std::string whole(std::string text, unsigned decimals) {
  const std::size_t point = text.find('.');
  const bool has_all = point != text.npos && text.size() - point - 1 == decimals;
  if (has_all && decimals != 0) text.erase(point, 1);
  return text;
}

// Exact up to 127 bits, and the end of those beyond; 0 if it is no integer.
Int128 to_total(std::string_view text) {
  constexpr UInt128 kMax = ~UInt128{0} >> 1;
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  UInt128 total = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return 0;
    const auto digit = static_cast<UInt128>(c - '0');
    total = total > (kMax - digit) / 10 ? kMax : total * 10 + digit;
  }
  return is_negative ? -static_cast<Int128>(total) : static_cast<Int128>(total);
}

// Counts are never below 0, and have 64 bits: sums of them do not overflow.
Int128 to_count(const std::string& text) {
  return static_cast<Int128>(parse_unsigned(text).value_or(0));
}

std::optional<double> to_average(const Json& json) {
  double value = 0;
  const std::string& text = json.text;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || read.ec != std::errc{}) return std::nullopt;
  return value;
}

void convert(const Json& from, unsigned decimals, std::int64_t& to) {
  to = parse_signed(whole(from.text, decimals)).value_or(0);
}
void convert(const Json& from, unsigned, std::uint64_t& to) {
  to = parse_unsigned(from.text).value_or(0);
}
void convert(const Json& from, unsigned decimals, Int128& to) {
  to = to_total(whole(from.text, decimals));
}
void convert(const Json& from, unsigned decimals, std::optional<std::int64_t>& to) {
  to = parse_signed(whole(from.text, decimals));
}
void convert(const Json& from, unsigned, std::optional<double>& to) { to = to_average(from); }
void convert(const Json& from, unsigned, std::int32_t& to) {
  using Limits = std::numeric_limits<std::int32_t>;
  const std::int64_t index = parse_signed(from.text).value_or(0);
  to = static_cast<std::int32_t>(std::clamp<std::int64_t>(index, Limits::min(), Limits::max()));
}

template <typename T>
void fill(std::vector<T>& to, const Members& from, std::string_view key) {
  const std::vector<Json>& items = from.items(key);
  to.assign(items.size(), T{});
  for (std::size_t i = 0; i < items.size(); ++i) convert(items[i], from.decimals(), to[i]);
}
void fill_counts(std::vector<Int128>& to, const Members& from, std::string_view key) {
  to.clear();
  for (const Json& each : from.items(key)) to.push_back(to_count(each.text));
}

template <typename T>
bool ascends(const std::vector<T>& values) {
  return std::ranges::adjacent_find(values, std::greater_equal<T>()) == values.end();
}

view::Range to_range(const Members& from, std::string_view count) {
  view::Range made{.number = from.count(count),
                   .sum = to_total(whole(from.text("sum"), from.decimals()))};
  convert(from.member("min"), from.decimals(), made.min);
  convert(from.member("avg"), from.decimals(), made.avg);
  convert(from.member("max"), from.decimals(), made.max);
  return made;
}

// ---- the values of each type: `made`, filled. One that is missing does not compile (to_values()).

Result<view::Values> filled(view::Value made, const Members& from) {
  made.total = to_total(whole(from.text("total"), from.decimals()));
  return view::Values(made);
}

Result<view::Values> filled(const view::Range&, const Members& from) {
  return view::Values(to_range(from, "number"));
}

Result<view::Values> filled(view::List made, const Members& from) {
  fill(made.x, from, "x");
  fill_counts(made.totals, from, "totals");
  if (made.x.size() != made.totals.size()) return invalid("a list with columns of two lengths");
  return view::Values(std::move(made));
}

Result<view::Values> filled(view::Array made, const Members& from) {
  made.below = from.count("below");
  made.above = from.count("above");
  fill(made.bounds, from, "bounds");
  fill_counts(made.counts, from, "counts");
  if (!ascends(made.bounds)) return invalid("bounds of an array that do not ascend");
  if (made.counts.size() != made.bounds.size() + 1 && !made.bounds.empty()) {
    return invalid("an array needs one count more than bounds");
  }
  return view::Values(std::move(made));
}

Result<view::Values> filled(view::Raw made, const Members& from) {
  fill(made.time_us, from, "time_us");
  fill(made.serial, from, "serial");
  fill(made.x, from, "x");
  fill(made.y, from, "y");
  const std::size_t size = made.x.size();
  if (made.time_us.size() != size || made.serial.size() != size || made.y.size() != size) {
    return invalid("raw samples with columns of two lengths");
  }
  return view::Values(std::move(made));
}

Result<view::Buckets> to_buckets(const Members& from) {
  view::Buckets made;
  fill(made.indexes, from, "indexes");
  fill_counts(made.counts, from, "counts");
  if (made.indexes.size() != made.counts.size() || !ascends(made.indexes)) {
    return invalid("buckets with columns of two lengths, or whose indexes do not ascend");
  }
  return made;
}

Result<view::Values> filled(view::Quantiles made, const Members& from) {
  made.all = to_range(from, "count");
  for (const Json& each : from.items("quantiles")) {
    view::ShownQuantile shown{.q = Members(each).text("q")};
    convert(Members(each).member("value"), from.decimals(), shown.value);
    made.shown.push_back(std::move(shown));
  }
  const Members buckets(from.member("buckets"));
  auto positive = to_buckets(Members(buckets.member("positive")));
  if (!positive) return positive.error();
  auto negative = to_buckets(Members(buckets.member("negative")));
  if (!negative) return negative.error();
  made.zero = to_count(buckets.text("zero"));
  made.positive = std::move(positive).value();
  made.negative = std::move(negative).value();
  return view::Values(std::move(made));
}

Result<view::Values> filled(view::Last made, const Members& from) {
  made.x = parse_signed(whole(from.text("x"), from.decimals())).value_or(0);
  made.time_us = parse_unsigned(from.text("time_us"));
  return view::Values(made);
}

// The column is `count` with mode=quantiles, and `number` with mode=range.
Result<view::Values> filled(view::History made, const Members& from) {
  fill(made.end_us, from, "end_us");
  fill(made.totals, from, "totals");
  fill(made.number, from, from.has("count") ? "count" : "number");
  fill(made.min, from, "min");
  fill(made.avg, from, "avg");
  fill(made.max, from, "max");
  fill(made.sum, from, "sum");
  const std::size_t size = made.end_us.size();
  const bool has_totals = made.totals.size() == size;
  const bool has_periods = made.number.size() == size && made.min.size() == size &&
                           made.avg.size() == size && made.max.size() == size;
  if (!has_totals && !has_periods) return invalid("a history with columns of two lengths");
  for (const Json& each : from.items("quantiles")) {
    view::QuantileColumn quantile{.q = Members(each).text("q"), .values = {}};
    fill(quantile.values, Members(each, from.decimals()), "values");
    quantile.values.resize(size);
    made.quantiles.push_back(std::move(quantile));
  }
  return view::Values(std::move(made));
}

Result<view::Values> to_values(const std::string& type, const Members& from) {
  std::optional<Result<view::Values>> made;
  const auto fill_if_named = [&]<typename Type>(Type empty) {
    if (Type::kType == type) made.emplace(filled(std::move(empty), from));
  };
  [&]<typename... Each>(const std::variant<Each...>*) {
    (fill_if_named(Each{}), ...);
  }(static_cast<const view::Values*>(nullptr));
  if (made) return *std::move(made);
  return invalid("a statistic of the type \"" + type + "\", which this program does not know");
}

void scale(std::optional<double>& average, double by) {
  if (average) *average *= by;
}

// To averages of X as they are here.
void scale_averages(view::Values& values, double by) {
  if (by == 1) return;
  if (auto* const range = std::get_if<view::Range>(&values)) scale(range->avg, by);
  if (auto* const quantiles = std::get_if<view::Quantiles>(&values)) scale(quantiles->all.avg, by);
  if (auto* const history = std::get_if<view::History>(&values)) {
    for (auto& each : history->avg) scale(each, by);
  }
}

// True for a key that a definition line may have. The others are read-only.
bool is_definition_key(std::string_view key) {
  return !key.ends_with("_us") && !key.starts_with("hits_") && key != "samples" &&
         key != "values" && key != "serial" && key != "view";
}

// `quantiles` may be a list of numbers; a line has them with commas.
std::string definition_value(const Json& json) {
  if (json.kind != Json::Kind::kArray) return json.text;
  std::string made;
  for (const Json& each : json.items) made.append(made.empty() ? "" : ",").append(each.text);
  return made;
}

Result<view::Statistic> to_statistic(const Json& json) {
  const Members from(json);
  view::Statistic made{.name = from.text("name"),
                       .on = from.count("on") == 1,
                       .type = from.text("type"),
                       .units = from.text("units"),
                       .definition = {},
                       .hits_out_of_range = from.count("hits_out_of_range"),
                       .hits_missed = from.count("hits_missed"),
                       .data_us = from.count("data_us"),
                       .started_us = from.count("started_us"),
                       .stopped_us = from.count("stopped_us"),
                       .samples = from.count("samples"),
                       .undo_us = from.count("undo_us")};
  if (made.name.empty()) return invalid("a statistic without a name");
  for (std::size_t i = 0; i < json.keys.size(); ++i) {
    // Empty units leave a statistic as it is.
    if (!is_definition_key(json.keys[i]) || (json.keys[i] == "units" && made.units.empty())) {
      continue;
    }
    made.definition.push_back({json.keys[i], definition_value(json.items[i])});
  }
  auto values = to_values(made.type, Members(from.member("values"), made.decimals()));
  if (!values) return Error{values.error().code, made.name + ": " + values.error().reason};
  made.values = std::move(values).value();
  scale_averages(made.values, static_cast<double>(kPowersOfTen[made.decimals()]));
  return made;
}

Result<void> check_format(const Members& from) {
  const std::uint64_t format = from.count("format");
  if (format == 0) return invalid("no \"format\" in it");
  if (format <= kFormat) return {};
  return invalid("format " + std::to_string(format) + ", and this program knows formats up to " +
                 std::to_string(kFormat));
}

view::Holdings to_holdings(const Members& from) {
  return {from.count("interfaces"), from.count("statistics"), from.count("bytes")};
}

}  // namespace

Result<view::Tree> to_tree(const Json& json) {
  const Members from(json);
  if (auto done = check_format(from); !done) return done.error();
  if (!from.has("interfaces")) return invalid("no \"interfaces\" in it");
  view::Tree made{.version = from.text("tallyfs"),
                  .epoch = from.text("epoch"),
                  .time_us = from.count("time_us"),
                  .realtime_us = from.count("realtime_us"),
                  .pid = from.count("pid"),
                  .socket = from.text("socket"),
                  .queue_length = from.known_count("queue_length"),
                  .tracefs = from.text("tracefs")};
  for (const Json& each : from.items("quotas")) {
    const Members quota(each);
    made.quotas.push_back({quota.count("uid"), to_holdings(quota)});
  }
  if (from.has("quota_limits")) {
    const Members limits(from.member("quota_limits"));
    made.quota_limits = {to_holdings(Members(limits.member("uid"))),
                         to_holdings(Members(limits.member("all")))};
  }
  made.interfaces.reserve(from.items("interfaces").size());
  for (const Json& each : from.items("interfaces")) {
    const Members interface(each);
    made.interfaces.push_back({interface.text("interface"), interface.count("statistics"),
                               interface.count("on"), interface.count("samples"),
                               interface.count("serial"), interface.text("uid"),
                               interface.text("feed")});
  }
  return made;
}

Result<view::Interface> to_interface(const Json& json) {
  const Members from(json);
  if (auto done = check_format(from); !done) return done.error();
  view::Interface made{.name = from.text("interface"),
                       .epoch = from.text("epoch"),
                       .serial = from.count("serial"),
                       .time_us = from.count("time_us"),
                       .realtime_us = from.count("realtime_us")};
  if (!from.has("statistics")) return invalid("no \"statistics\" in it");
  for (const Json& each : from.items("statistics")) {
    auto statistic = to_statistic(each);
    if (!statistic) return statistic.error();
    made.statistics.push_back(std::move(statistic).value());
  }
  return made;
}

}  // namespace tallyfs
