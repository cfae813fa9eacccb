#include "tools/ctl/condition.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/base/text.h"
#include "tools/display/distribution.h"
#include "tools/display/quantity.h"
#include "tools/display/summary.h"

namespace tallyfs {
namespace {

using view::Quantity;
using Kind = view::Quantity::Kind;

constexpr std::string_view kExample =
    "; a condition is WHAT METRIC < LIMIT, as 'web/latency_us p99 < 20ms', with <, <=, > or >=; "
    "METRIC is p50, p99.9, min, avg, max, count, rate, value or last";

struct Unit {
  std::string_view name;
  Kind kind;
  double factor;
};
constexpr std::array kUnits = {
    Unit{"ns", Kind::kTime, 1},         Unit{"us", Kind::kTime, 1e3},
    Unit{"ms", Kind::kTime, 1e6},       Unit{"s", Kind::kTime, 1e9},
    Unit{"min", Kind::kTime, 6e10},     Unit{"h", Kind::kTime, 3.6e12},
    Unit{"B", Kind::kBytes, 1},         Unit{"KiB", Kind::kBytes, 1024},
    Unit{"MiB", Kind::kBytes, 1048576}, Unit{"GiB", Kind::kBytes, 1073741824},
    Unit{"k", Kind::kNumber, 1e3},      Unit{"M", Kind::kNumber, 1e6},
    Unit{"G", Kind::kNumber, 1e9},
};

struct NamedMetric {
  std::string_view name;
  Condition::Metric metric;
};
constexpr std::array kMetrics = {
    NamedMetric{"min", Condition::Metric::kMin},   NamedMetric{"avg", Condition::Metric::kAvg},
    NamedMetric{"max", Condition::Metric::kMax},   NamedMetric{"count", Condition::Metric::kCount},
    NamedMetric{"rate", Condition::Metric::kRate}, NamedMetric{"value", Condition::Metric::kValue},
    NamedMetric{"last", Condition::Metric::kLast},
};

Error no_condition(const std::string& reason) { return invalid(reason + std::string(kExample)); }

// The number, and what follows it.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<Limit> parse_limit(std::string_view text) {
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  if (text.ends_with("/s")) text.remove_suffix(2);
  if (text.empty()) return Limit{.number = *number};
  const auto unit = std::ranges::find(kUnits, text, &Unit::name);
  if (unit == kUnits.end()) return std::nullopt;
  return Limit{.number = *number, .factor = unit->factor, .kind = unit->kind, .has_unit = true};
}

// "p99.9": 999,000 millionths.
std::optional<std::uint32_t> parse_percentile(std::string_view text) {
  if (!text.starts_with('p')) return std::nullopt;
  text.remove_prefix(1);
  const auto percent = take_number(text);
  if (!percent || !text.empty()) return std::nullopt;
  const double millionths = std::round(*percent * 1e4);
  if (millionths < 1 || millionths > 999'999) return std::nullopt;
  return static_cast<std::uint32_t>(millionths);
}

bool take_metric(Condition& made) {
  if (const auto millionths = parse_percentile(made.metric_text)) {
    made.metric = Condition::Metric::kPercentile;
    made.millionths = *millionths;
    return true;
  }
  const auto found = std::ranges::find(kMetrics, made.metric_text, &NamedMetric::name);
  if (found == kMetrics.end()) return false;
  made.metric = found->metric;
  return true;
}

struct Found {
  double value = 0;
  std::string text;
};

Found found_number(double value, const Quantity& quantity, view::Charset charset) {
  return {value, view::number_text(value, quantity, view::Digits::kThree, charset)};
}

std::optional<double> extreme_of(Condition::Metric metric, const view::Range& range) {
  if (metric == Condition::Metric::kAvg) return range.avg;
  const auto& found = metric == Condition::Metric::kMin ? range.min : range.max;
  return found ? std::optional(static_cast<double>(*found)) : std::nullopt;
}

std::optional<Found> find_in_x(const Condition& condition, const view::Statistic& statistic,
                               view::Charset charset) {
  const Quantity quantity = view::quantity_of_x(statistic);
  if (condition.metric == Condition::Metric::kPercentile) {
    const auto distribution = view::distribution_of(statistic, view::Detail::kFine);
    if (!distribution) return std::nullopt;
    const auto found = view::percentile(*distribution, condition.millionths);
    if (!found) return std::nullopt;
    return Found{found->estimate, view::percentile_text(*found, quantity, false, charset)};
  }
  if (condition.metric == Condition::Metric::kLast) {
    const auto* const last = std::get_if<view::Last>(&statistic.values);
    if (!last || !last->time_us) return std::nullopt;
    return found_number(static_cast<double>(last->x), quantity, charset);
  }
  const auto* const quantiles = std::get_if<view::Quantiles>(&statistic.values);
  const auto* const range =
      quantiles ? &quantiles->all : std::get_if<view::Range>(&statistic.values);
  const auto value = range ? extreme_of(condition.metric, *range) : std::nullopt;
  return value ? std::optional(found_number(*value, quantity, charset)) : std::nullopt;
}

std::optional<Found> find_in_counts(const Condition& condition, const view::Statistic& statistic,
                                    view::Charset charset) {
  if (condition.metric == Condition::Metric::kValue) {
    const auto* const value = std::get_if<view::Value>(&statistic.values);
    if (!value) return std::nullopt;
    return found_number(static_cast<double>(value->total), view::quantity_of_totals(statistic),
                        charset);
  }
  const auto count = view::count_of(statistic);
  if (!count) return std::nullopt;
  return Found{static_cast<double>(*count), view::grouped_text(*count)};
}

Result<double> limit_in(const Condition& condition, const Quantity& quantity,
                        const std::string& units) {
  const Limit& limit = condition.limit;
  if (limit.kind == Kind::kNumber) {
    return limit.number * limit.factor * std::pow(10.0, quantity.decimals);
  }
  if (limit.kind == quantity.kind) return limit.number * limit.factor / quantity.factor;
  return invalid(condition.limit_text + " is in another unit than the statistic" +
                 (units.empty()
                      ? ", which has none: leave it out, or define units=UNIT/samples as sent"
                      : ", which is in " + units));
}

bool holds(double value, Condition::Operator op, double limit) {
  switch (op) {
    case Condition::Operator::kBelow:
      return value < limit;
    case Condition::Operator::kAtMost:
      return value <= limit;
    case Condition::Operator::kAbove:
      return value > limit;
    case Condition::Operator::kAtLeast:
      return value >= limit;
  }
  return false;
}

std::string_view text_of(Condition::Operator op) {
  constexpr std::array<std::string_view, 4> kTexts = {"<", "<=", ">", ">="};
  return kTexts[static_cast<std::size_t>(op)];
}

Result<Found> find_rate(const view::Change* change) {
  const auto rate = change ? change->rate() : std::nullopt;
  if (!change) return invalid("a rate needs --over TIME");
  if (!rate) return invalid("it was reset or redefined meanwhile");
  return Found{*rate, view::rate_text(*rate)};
}

// After a reset a count and a total are 0 and known; X is not, where the type says so.
bool has_samples(const Condition& condition, const view::Statistic& statistic) {
  const bool may_be_0 = !condition.is_of_x() || view::count_of(statistic).value_or(1) != 0;
  return statistic.samples != 0 && may_be_0;
}

Result<Found> find_value(const Condition& condition, const view::Statistic& statistic,
                         const view::Change* change, view::Charset charset) {
  if (condition.metric == Condition::Metric::kRate) return find_rate(change);
  if (!change && !has_samples(condition, statistic)) return invalid("no sample");
  if (change && !change->counted) return invalid("it was reset or redefined meanwhile");
  const view::Statistic& counted = change ? *change->counted : statistic;
  const auto found = condition.is_of_x() ? find_in_x(condition, counted, charset)
                                         : find_in_counts(condition, counted, charset);
  if (found) return *found;
  const auto count = view::count_of(counted);
  if ((count && *count == 0) || statistic.samples == 0) return invalid("no sample");
  const bool is_percentile = condition.metric == Condition::Metric::kPercentile;
  return invalid("type=" + statistic.type + " has no " + condition.metric_text +
                 (change ? " of an interval" : "") +
                 (is_percentile               ? "; type=quantiles has, also as a view beside it"
                  : statistic.type == "value" ? "; it has value and rate"
                                              : ""));
}

}  // namespace

Quantity quantity_of(const Condition& condition, const view::Statistic& statistic) {
  if (condition.is_of_x()) return view::quantity_of_x(statistic);
  const bool is_total = condition.metric == Condition::Metric::kValue;
  return is_total ? view::quantity_of_totals(statistic) : Quantity{};
}

bool Condition::is_of_x() const {
  return metric != Metric::kCount && metric != Metric::kRate && metric != Metric::kValue;
}

std::string Condition::wanted_text() const { return std::string(text_of(op)) + " " + limit_text; }

Result<Condition> parse_condition(std::string_view text) {
  Condition made;
  text = trimmed(text);
  const auto what = Tokens(text).next_path();
  const std::size_t blank = what ? what->text.size() : text.size();
  const std::size_t at = text.find_first_of("<>", blank);
  if (at == text.npos) return no_condition("'" + std::string(text) + "' is no condition");
  made.what = text.substr(0, blank);
  made.metric_text = trimmed(text.substr(blank, at - blank));
  const bool has_equals = text.substr(at + 1).starts_with('=');
  using Operator = Condition::Operator;
  if (text[at] == '<')
    made.op = has_equals ? Operator::kAtMost : Operator::kBelow;
  else
    made.op = has_equals ? Operator::kAtLeast : Operator::kAbove;
  made.limit_text = trimmed(text.substr(at + (has_equals ? 2 : 1)));
  if (!take_metric(made)) return no_condition("'" + made.metric_text + "' is no metric");
  const auto limit = parse_limit(made.limit_text);
  if (!limit && made.limit_text.find(',') != std::string::npos) {
    return no_condition("'" + made.limit_text + "' has a comma: a decimal is 1.5, a thousand 1000");
  }
  if (!limit) {
    return no_condition("'" + made.limit_text +
                        "' is no number, alone or with ns, us, ms, s, min, h, B, KiB, MiB, GiB, "
                        "k, M or G");
  }
  made.limit = *limit;
  return made;
}

Result<double> limit_of(const Condition& condition, const view::Statistic& statistic) {
  return limit_in(condition, quantity_of(condition, statistic), statistic.units);
}

Result<Measured> measure(const Condition& condition, const view::Statistic& statistic,
                         const view::Change* change, view::Charset charset) {
  if (!statistic.on) return invalid("it is off");
  const auto limit = limit_of(condition, statistic);
  if (!limit) return limit.error();
  const auto found = find_value(condition, statistic, change, charset);
  if (!found) return found.error();
  return Measured{.value = found.value().value,
                  .limit = limit.value(),
                  .text = found.value().text,
                  .holds = holds(found.value().value, condition.op, limit.value())};
}

}  // namespace tallyfs
