#include "exporters/web/statistic_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "exporters/web/slowest.h"
#include "tools/display/distribution.h"
#include "tools/display/plot.h"
#include "tools/display/summary.h"
#include "tools/display/type_lines.h"
#include "tools/tree/view_json.h"

namespace tallyfs::web {
namespace {

using view::Digits;

constexpr std::size_t kBarsMax = 64;
constexpr std::size_t kRawRowsMax = 100;
constexpr int kTicks = 5;

std::string x_text(double x, const view::Statistic& statistic) {
  return view::number_text(x, view::quantity_of_x(statistic), Digits::kThree, page_look().charset);
}

double part_of(Int128 count, Int128 largest) {
  return largest > 0 ? static_cast<double>(count) / static_cast<double>(largest) : 0;
}

struct Bar {
  std::string label;
  Int128 count = 0;
  std::optional<Int128> at{};  // an end of its bin: bars of two times are in the order of it
};

void write_bars(JsonWriter& writer, const std::vector<Bar>& bars) {
  Int128 sum = 0;
  Int128 largest = 0;
  for (const Bar& bar : bars) {
    sum += bar.count;
    largest = std::max(largest, bar.count);
  }
  writer.key("bars").begin_array();
  for (const Bar& bar : bars) {
    writer.begin_object().key("label").string(bar.label).key("count").number(bar.count);
    writer.key("text").string(view::grouped_text(bar.count));
    writer.key("share").string(view::share_text(bar.count, sum));
    if (bar.at) writer.key("at").number(*bar.at);
    writer.key("part").decimals(part_of(bar.count, largest), 4).end_object();
  }
  writer.end_array();
}

std::vector<Bar> bars_of_list(const view::List& list, const view::Quantity& quantity) {
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < std::min({list.x.size(), list.totals.size(), kBarsMax}); ++i) {
    bars.push_back({view::exact_text(list.x[i], quantity), list.totals[i]});
  }
  return bars;
}

void write_fact(JsonWriter& writer, const char* label, const std::string& text) {
  writer.begin_object().key("label").string(label).key("text").string(text).end_object();
}

// Numbers that stand for themselves.
void write_facts(JsonWriter& writer, const view::Statistic& statistic) {
  writer.key("facts").begin_array();
  if (const auto* range = std::get_if<view::Range>(&statistic.values)) {
    const auto text = [&](const auto& x) {
      return x ? x_text(static_cast<double>(*x), statistic) : std::string("-");
    };
    write_fact(writer, "number", view::grouped_text(range->number));
    write_fact(writer, "least", text(range->min));
    write_fact(writer, "average", text(range->avg));
    write_fact(writer, "most", text(range->max));
  } else if (std::holds_alternative<view::Value>(statistic.values)) {
    write_fact(writer, "total", view::values_text(statistic, page_look()));
  } else if (std::holds_alternative<view::Last>(statistic.values)) {
    write_fact(writer, "last", view::values_text(statistic, page_look()));
  }
  writer.end_array();
}

void write_values(JsonWriter& writer, const view::Statistic& statistic) {
  if (view::distribution_of(statistic, view::Detail::kFine)) {
    return write_distribution(writer, statistic, kBarsMax);
  }
  if (const auto* list = std::get_if<view::List>(&statistic.values)) {
    write_bars(writer, bars_of_list(*list, view::quantity_of_x(statistic)));
  }
  write_facts(writer, statistic);
  writer.key("left_out").string(view::left_out_text(statistic, page_look()));
}

// A counter's growth per second; a product's is in the unit of X.
std::string growth_text(const view::Statistic& counted, std::uint64_t micros) {
  const auto* value = std::get_if<view::Value>(&counted.values);
  if (!value || micros == 0) return {};
  const double each = static_cast<double>(value->total) * 1e6 / static_cast<double>(micros);
  const std::string text = view::number_text(each, view::quantity_of_totals(counted),
                                             Digits::kThree, page_look().charset);
  const std::string name = view::quantity_of_counts(counted.units).name;
  const bool is_count = !view::has_products(counted) && !name.empty();
  return (is_count ? text + " " + name : text) + "/s";
}

// Writes the values of the interval, as for the whole time. A counter shows its growth instead.
void write_interval(JsonWriter& writer, const view::Change& change) {
  const std::string growth = growth_text(*change.counted, change.micros);
  if (growth.empty()) return write_values(writer, *change.counted);
  writer.key("facts").begin_array();
  write_fact(writer, "growth", growth);
  writer.end_array();
}

// The line that makes it what it is, and for each type one that would make it that.
void write_lines(JsonWriter& writer, const view::Statistic& statistic) {
  writer.key("definition").string(view::definition_line(statistic)).key("lines").begin_object();
  for (const std::string_view type : kStatisticTypes) {
    writer.key(type).string(view::line_as(statistic, type));
  }
  writer.end_object().key("held_text").string(view::held_text(statistic));
  writer.key("can_undo").boolean(statistic.undo_us != 0);
}

// The newest samples, the newest first.
void write_raw(JsonWriter& writer, const StatisticView& shown) {
  const auto* raw = std::get_if<view::Raw>(&shown.statistic.values);
  if (!raw) return;
  const std::size_t size = std::min({raw->time_us.size(), raw->x.size(), raw->y.size()});
  writer.key("raw").begin_array();
  for (std::size_t i = 0; i < std::min(size, kRawRowsMax); ++i) {
    const std::size_t at = size - 1 - i;
    writer.begin_array().number(shown.interface.realtime_at(raw->time_us[at]));
    writer.string(x_text(static_cast<double>(raw->x[at]), shown.statistic));
    writer.string(view::grouped_text(raw->y[at])).end_array();
  }
  writer.end_array();
}

// For a row: percentiles without their bounds, a range without its least, a history's newest
// period.
std::string brief_text(const view::Statistic& statistic) {
  const auto fine = view::distribution_of(statistic, view::Detail::kFine);
  const auto* range = std::get_if<view::Range>(&statistic.values);
  if (range && range->avg) {
    const std::string average = "avg " + x_text(*range->avg, statistic);
    if (!range->max) return average;
    return average + "  max " + x_text(static_cast<double>(*range->max), statistic);
  }
  std::string text;
  if (!fine || fine->total() == 0) {
    text = view::values_text(statistic, page_look());
    const bool is_history = std::holds_alternative<view::History>(statistic.values);
    const std::size_t comma = is_history ? text.find(", ") : text.npos;
    return comma == text.npos ? text : text.substr(comma + 2);
  }
  for (const auto& each : view::two_percentiles_of(statistic)) {
    auto found = view::percentile(*fine, each.millionths);
    if (!found) continue;
    if (found->ends == view::Bin::Ends::kBoth) found->low = found->high;
    text.append(text.empty() ? "p" : "  p").append(each.label).append(" ");
    text.append(
        view::percentile_text(*found, view::quantity_of_x(statistic), false, page_look().charset));
  }
  return text;
}

std::string type_text(const view::Statistic& statistic) {
  std::string text = statistic.type;
  for (const char* key : {"scale", "mode"}) {
    if (const auto value = statistic.key(key); !value.empty()) text.append(" ").append(value);
  }
  if (const auto of = statistic.key("of"); !of.empty()) text.append(" of ").append(of);
  return text;
}

void write_optional(JsonWriter& writer, const std::optional<double>& value) {
  if (value)
    writer.decimals(*value, 3);
  else
    writer.null();
}

void write_point(JsonWriter& writer, const std::optional<double>& value) {
  if (value)
    write_drawn(writer, *value);
  else
    writer.null();
}

template <typename Member>
void write_column(JsonWriter& writer, const char* name, const std::vector<view::Point>& points,
                  Member member) {
  writer.key(name).begin_array();
  for (const view::Point& point : points) write_point(writer, point.*member);
  writer.end_array();
}

std::string text_of(double value, const view::Series& series) {
  return view::number_text(value, series.quantity, Digits::kThree, page_look().charset);
}

void write_tick(JsonWriter& writer, double value, const view::Series& series) {
  write_drawn(writer.begin_object().key("value"), value);
  writer.key("text").string(text_of(value, series)).end_object();
}

// The marks of the value axis, with their texts; 0 is always among them. Returns the highest.
double write_ticks(JsonWriter& writer, const view::Series& series) {
  double low = 0;
  double high = std::max(0.0, view::drawn_top_of(series));
  for (const view::Point& point : series.points) {
    for (const auto& each : {point.value, point.min, point.max}) {
      low = std::min(low, each.value_or(low));
    }
  }
  if (high == low) high = low + 1;
  const double tick = view::tick_of(high - low, kTicks);
  writer.key("ticks").begin_array();
  const double last = std::ceil(high / tick);
  for (double at = std::floor(low / tick); at <= last; ++at) write_tick(writer, at * tick, series);
  writer.end_array();
  return last * tick;
}

// The least and the most above 0, which alone have a place on a logarithmic axis; 0: none has.
std::pair<double, double> positive_ends(const view::Series& series) {
  std::pair<double, double> ends{0, 0};
  for (const view::Point& point : series.points) {
    for (const auto& each : {point.value, point.min, point.max}) {
      if (!each || *each <= 0) continue;
      ends.first = ends.first > 0 ? std::min(ends.first, *each) : *each;
      ends.second = std::max(ends.second, *each);
    }
  }
  return ends;
}

// The marks of a logarithmic axis: 1, 2 and 5 of each decade, of many decades 1 alone, and of very
// many each second or third. None without a number above 0.
void write_log_ticks(JsonWriter& writer, const view::Series& series) {
  constexpr int kDetailed = 3;
  constexpr int kDecadesMax = 9;
  const auto [least, most] = positive_ends(series);
  writer.key("log_ticks").begin_array();
  if (least > 0) {
    const int first = static_cast<int>(std::floor(std::log10(least) + 1e-9));
    const int last = std::max(first + 1, static_cast<int>(std::ceil(std::log10(most) - 1e-9)));
    const int step = (last - first) / kDecadesMax + 1;
    for (int decade = first; decade < last + step; decade += step) {
      write_tick(writer, std::pow(10, decade), series);
      if (last - first > kDetailed || decade >= last) continue;
      for (const int each : {2, 5}) write_tick(writer, each * std::pow(10, decade), series);
    }
  }
  writer.end_array();
}

// The times whose line or shade is beyond the top of the linear axis: which of the two, how high.
void write_beyond(JsonWriter& writer, const view::Series& series, double top) {
  constexpr std::size_t kNamedMax = 50;
  std::size_t all = 0;
  writer.key("beyond").begin_array();
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    const view::Point& point = series.points[i];
    const double line = point.value.value_or(top);
    const double most = std::max(line, point.max.value_or(top));
    if (most <= top || ++all > kNamedMax) continue;
    writer.begin_object().key("at").number(i);
    writer.key("name").string(line >= most || series.high.empty() ? series.line : series.high);
    writer.key("text").string(text_of(most, series)).end_object();
  }
  writer.end_array().key("beyond_all").number(all);
}

}  // namespace

void write_drawn(JsonWriter& writer, double value) {
  constexpr double kSmall = 0.1;
  constexpr int kDecimals = 3;
  if (value == 0 || !(std::abs(value) < kSmall)) {
    writer.decimals(value, kDecimals);
    return;
  }
  std::array<char, 16> digits;  // "-1.157e-308"
  const auto made = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                  std::chars_format::scientific, kDecimals);
  writer.number_text({digits.data(), made.ptr});
}

void write_series(JsonWriter& writer, const view::Series& series) {
  writer.key("end_us").begin_array();
  for (const view::Point& point : series.points) writer.number(point.realtime_us);
  writer.end_array();
  write_column(writer, "value", series.points, &view::Point::value);
  write_column(writer, "min", series.points, &view::Point::min);
  write_column(writer, "max", series.points, &view::Point::max);
  writer.key("legend").string(view::legend_of(series));
  writer.key("unit").string(series.quantity.name);
  writer.key("names").begin_array();
  for (const auto& name : {series.line, series.low, series.high}) writer.string(name);
  writer.end_array();
  const double top = write_ticks(writer, series);
  write_log_ticks(writer, series);
  write_beyond(writer, series, top);
}

std::optional<double> level_of(const view::Statistic& statistic) {
  if (const auto bins = view::distribution_of(statistic, view::Detail::kFine)) {
    const auto found = view::percentile(*bins, kP99);
    return found ? std::optional(found->estimate) : std::nullopt;
  }
  if (const auto* range = std::get_if<view::Range>(&statistic.values)) return range->avg;
  if (const auto* value = std::get_if<view::Value>(&statistic.values)) {
    return static_cast<double>(value->total);
  }
  return view::level_of_now(statistic);
}

const view::Look& page_look() {
  static const view::Look kLook;
  return kLook;
}

void write_distribution(JsonWriter& writer, const view::Statistic& statistic,
                        std::size_t rows_max) {
  const auto fine = view::distribution_of(statistic, view::Detail::kFine);
  if (!fine) return;
  const view::Quantity quantity = view::quantity_of_x(statistic);
  writer.key("percentiles").begin_array();
  for (const auto& each : view::percentiles_of(statistic)) {
    const auto found = view::percentile(*fine, each.millionths);
    if (!found) continue;
    writer.begin_object().key("q").string(each.label).key("text");
    writer.string(view::percentile_text(*found, quantity, false, page_look().charset));
    writer.end_object();
  }
  writer.end_array();
  const auto bins =
      view::merged(*view::distribution_of(statistic, view::Detail::kOctaves), rows_max);
  std::vector<Bar> bars;
  for (const view::Bin& bin : bins.bins) {
    bars.push_back({view::bin_text(bin, quantity, false, page_look().charset), bin.count,
                    bin.ends == view::Bin::Ends::kNoLast ? bin.first : bin.last});
  }
  write_bars(writer, bars);
  writer.key("left_out").string(view::left_out_text(statistic, page_look()));
}

void write_row_view(JsonWriter& writer, const StatisticView& shown) {
  const auto rate = shown.change ? shown.change->rate() : std::nullopt;
  writer.key("type_text").string(type_text(shown.statistic)).key("rate_text");
  if (!shown.statistic.on)
    writer.string("off");
  else
    writer.string(rate ? view::rate_text(*rate) : std::string("-"));
  writer.key("rate_number");
  write_optional(writer, rate);
  writer.key("level");
  write_optional(writer, level_of(shown.statistic));
  writer.key("text").string(view::values_text(shown.statistic, page_look()));
  writer.key("brief").string(brief_text(shown.statistic));
}

void write_full_view(JsonWriter& writer, const StatisticView& shown) {
  const view::Interface& of = shown.interface;
  write_view(writer, shown.statistic, shown.change);
  write_row_view(writer, shown);
  write_lines(writer, shown.statistic);
  writer.key("help_text").string(view::help_text(shown.statistic));
  writer.key("since_us").number(of.realtime_at(shown.statistic.data_us));
  writer.key("counts_of").string(view::quantity_of_counts(shown.statistic.units).name);
  const auto count = view::count_of(shown.statistic);
  writer.key("count_text").string(count ? view::grouped_text(*count) : std::string());
  writer.key("total").begin_object();
  write_values(writer, shown.statistic);
  writer.end_object().key("interval");
  if (shown.change && shown.change->counted) {
    writer.begin_object();
    write_interval(writer, *shown.change);
    writer.end_object();
  } else {
    writer.null();
  }
  if (const auto series = view::series_of(shown.interface, shown.statistic)) {
    writer.key("series").begin_object();
    write_series(writer, *series);
    writer.end_object();
  }
  write_raw(writer, shown);
}

}  // namespace tallyfs::web
