#include "exporters/web/line_json.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "exporters/web/heat_json.h"
#include "exporters/web/statistic_json.h"
#include "tools/display/plot.h"
#include "tools/display/quantity.h"

namespace tallyfs::web {
namespace {

// Its line is what it counted in a second.
bool grows(const view::Statistic& statistic) {
  return std::holds_alternative<view::Value>(statistic.values) ||
         std::holds_alternative<view::List>(statistic.values);
}

std::optional<double> value_of(const view::Statistic& statistic, const PastColumn& column) {
  if (!column.is_known()) return std::nullopt;
  if (grows(statistic)) return static_cast<double>(column.sum) / column.length_s();
  return level_of(with_column(statistic, column));
}

view::Series series_of(const view::Statistic& statistic, const std::vector<PastColumn>& columns) {
  const bool is_growth = grows(statistic);
  view::Series made{.quantity = is_growth ? view::quantity_of_totals(statistic)
                                          : view::quantity_of_x(statistic)};
  made.line = is_growth ? "growth in a second" : "average";
  if (std::holds_alternative<view::Last>(statistic.values)) made.line = "last";
  if (has_bins(statistic)) made.line = "p99";
  for (const PastColumn& each : columns) {
    made.points.push_back(
        {.realtime_us = each.interval.end_us, .value = value_of(statistic, each)});
  }
  return made;
}

double growth_of(const PastColumn& column, std::int64_t x) {
  const auto found = std::ranges::find(column.hits, x, &Hit::index);
  const bool is_there = found != column.hits.end();
  return is_there ? static_cast<double>(found->count) / column.length_s() : 0;
}

void write_stack(JsonWriter& writer, const view::Statistic& statistic, std::int64_t x,
                 const std::vector<PastColumn>& columns) {
  writer.begin_object().key("name");
  writer.string(view::exact_text(x, view::quantity_of_x(statistic)));
  writer.key("values").begin_array();
  for (const PastColumn& each : columns) {
    if (each.is_known())
      write_drawn(writer, growth_of(each, x));
    else
      writer.null();
  }
  writer.end_array().end_object();
}

// Writes the entries of a list that grew most in the whole time, the largest first: the page draws
// it at the bottom.
void write_stacks(JsonWriter& writer, const view::Statistic& statistic,
                  const std::vector<PastColumn>& columns) {
  if (!std::holds_alternative<view::List>(statistic.values)) return;
  std::vector<Hit> all;
  for (const PastColumn& each : columns) all.insert(all.end(), each.hits.begin(), each.hits.end());
  all = summed(std::move(all));
  std::ranges::stable_sort(all, std::greater<>(), &Hit::count);
  writer.key("stacks").begin_array();
  for (std::size_t i = 0; i < std::min(all.size(), kStacksMax); ++i) {
    write_stack(writer, statistic, all[i].index, columns);
  }
  writer.end_array();
}

}  // namespace

std::string line_json(const std::string& interface, const PastReading& reading,
                      const LineOrder& order) {
  const view::Statistic& statistic = reading.statistic;
  const HeatColumns shown =
      columns_of(reading.past, {.seconds = order.seconds, .columns_max = order.columns_max});
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().key("interface").string(interface).key("statistic").string(statistic.name);
  write_what_lacks(writer, reading);
  writer.key("window_s").number(order.seconds).key("series").begin_object();
  write_series(writer, series_of(statistic, shown.columns));
  writer.key("seconds").begin_array();
  for (const PastColumn& each : shown.columns) writer.number(each.interval.seconds);
  writer.end_array();
  write_stacks(writer, statistic, shown.columns);
  writer.end_object().end_object();
  return text;
}

}  // namespace tallyfs::web
