#include "tools/tree/view_json.h"

#include <algorithm>

#include "tools/display/distribution.h"
#include "tools/display/summary.h"

namespace tallyfs {
namespace {

void write_percentiles(JsonWriter& writer, const view::Statistic& statistic) {
  const auto distribution = view::distribution_of(statistic, view::Detail::kFine);
  if (!distribution) return;
  const unsigned decimals = statistic.decimals();
  writer.key("quantiles").begin_array();
  for (const auto& each : view::percentiles_of(statistic)) {
    const auto found = view::percentile(*distribution, each.millionths);
    if (!found) continue;
    writer.begin_object().key("q").number_text(each.label);
    const bool has_low = found->ends != view::Bin::Ends::kNoFirst;
    const bool has_high = found->ends != view::Bin::Ends::kNoLast;
    writer.key("low");
    if (found->ends == view::Bin::Ends::kNoLast)
      writer.fixed(found->low + 1, decimals);
    else if (has_low)
      writer.fixed(found->low, decimals);
    else
      writer.null();
    writer.key("high");
    if (has_high)
      writer.fixed(found->high, decimals);
    else
      writer.null();
    writer.key("estimate");
    if (has_low && has_high)
      writer.decimals(found->estimate / static_cast<double>(kPowersOfTen[decimals]),
                      3 + static_cast<int>(decimals));
    else
      writer.null();
    writer.end_object();
  }
  writer.end_array();
}

void write_change(JsonWriter& writer, const std::optional<view::Change>& change) {
  if (!change) return;
  writer.key("interval_us").number(change->micros);
  writer.key("samples");
  if (change->samples)
    writer.number(*change->samples);
  else
    writer.null();
  writer.key("rate");
  if (const auto rate = change->rate())
    writer.decimals(*rate, 3);
  else
    writer.null();
}

void write_statistic(JsonWriter& writer, const Json& json, const view::Statistic& statistic,
                     const std::optional<view::Change>& change) {
  writer.begin_object();
  for (std::size_t i = 0; i < json.keys.size(); ++i) {
    writer.key(json.keys[i]);
    write_json(writer, json.items[i]);
  }
  writer.key("view").begin_object();
  write_view(writer, statistic, change);
  writer.end_object().end_object();
}

}  // namespace

void write_view(JsonWriter& writer, const view::Statistic& statistic,
                const std::optional<view::Change>& change) {
  write_change(writer, change);
  // An interval whose counts are unknown has no percentiles.
  const bool is_known = !change || change->counted.has_value();
  if (is_known) write_percentiles(writer, change ? *change->counted : statistic);
}

void write_interface(JsonWriter& writer, const Json& json, const view::Interface& interface,
                     const WantStatistic& wanted, const FindChange& change) {
  writer.begin_object();
  for (std::size_t i = 0; i < json.keys.size(); ++i) {
    writer.key(json.keys[i]);
    if (json.keys[i] != "statistics") {
      write_json(writer, json.items[i]);
      continue;
    }
    writer.begin_array();
    const auto& items = json.items[i].items;
    for (std::size_t at = 0; at < std::min(items.size(), interface.statistics.size()); ++at) {
      const view::Statistic& statistic = interface.statistics[at];
      if (!wanted(statistic.name)) continue;
      write_statistic(writer, items[at], statistic, change(statistic.name));
    }
    writer.end_array();
  }
  writer.end_object();
}

}  // namespace tallyfs
