#include "exporters/web/interface_json.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "exporters/web/filter.h"
#include "exporters/web/statistic_json.h"

namespace tallyfs::web {
namespace {

using view::Change;

std::optional<Change> change_of(const Followed& followed, const std::string& name) {
  if (!followed.before) return std::nullopt;
  return view::change_between(*followed.before, followed.now, name);
}

void write_statistic(JsonWriter& writer, const Followed& followed, std::size_t at,
                     const Json& json) {
  const view::Statistic& statistic = followed.now.statistics[at];
  const auto change = change_of(followed, statistic.name);
  writer.begin_object();
  for (std::size_t i = 0; i < json.keys.size(); ++i) {
    writer.key(json.keys[i]);
    write_json(writer, json.items[i]);
  }
  writer.key("view").begin_object();
  write_full_view(writer, {followed.now, statistic, change});
  writer.end_object().end_object();
}

void write_statistics(JsonWriter& writer, const Followed& followed, const InterfaceOrder& order) {
  writer.key("statistics");
  order.is_by_name ? writer.begin_object() : writer.begin_array();
  const Json* const all = followed.json.find("statistics");
  const std::size_t size =
      all ? std::min(all->items.size(), followed.now.statistics.size()) : std::size_t{0};
  for (std::size_t i = 0; i < size; ++i) {
    const std::string& name = followed.now.statistics[i].name;
    if (order.statistic && name != *order.statistic) continue;
    if (order.is_by_name) writer.key(name);
    write_statistic(writer, followed, i, all->items[i]);
  }
  order.is_by_name ? writer.end_object() : writer.end_array();
}

using FindChange = std::function<std::optional<Change>(const std::string&)>;

// What a row is ordered by where that is a number: its rate, or its p99, average or total.
double rank_of(const view::Statistic& statistic, const std::optional<Change>& change,
               InterfaceOrder::By by) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  if (by == InterfaceOrder::By::kValue) return level_of(statistic).value_or(kNone);
  if (!statistic.on) return kNone;
  return change ? change->rate().value_or(-1) : -1;
}

std::vector<const view::Statistic*> matching_of(const view::Interface& interface,
                                                const FindChange& find_change,
                                                const InterfaceOrder& order) {
  std::vector<const view::Statistic*> made;
  const Filter filter(order.filter);
  for (const view::Statistic& each : interface.statistics) {
    if (order.only_counted && each.samples == 0) continue;
    if (filter.matches(each.name)) made.push_back(&each);
  }
  if (order.by == InterfaceOrder::By::kDefined) return made;
  if (order.by == InterfaceOrder::By::kName) {
    std::ranges::sort(made, {}, &view::Statistic::name);
    return made;
  }
  std::map<const view::Statistic*, double> ranks;
  for (const view::Statistic* each : made) {
    ranks[each] = rank_of(*each, find_change(each->name), order.by);
  }
  std::ranges::stable_sort(made, std::greater<>(),
                           [&](const view::Statistic* each) { return ranks.at(each); });
  return made;
}

void write_rows(JsonWriter& writer, const view::Interface& interface, const FindChange& find_change,
                const InterfaceOrder& order, KeptOrders* orders) {
  auto matching = matching_of(interface, find_change, order);
  if (orders) {
    writer.key("order").number(orders->arrange(
        matching, order.as, [](const auto* each) { return std::string_view(each->name); }));
  }
  writer.key("of").number(interface.statistics.size());
  writer.key("matching").number(matching.size()).key("first").number(order.first);
  writer.key("rows").begin_array();
  for (std::size_t i = order.first; i < std::min(matching.size(), order.first + order.rows); ++i) {
    const auto change = find_change(matching[i]->name);
    writer.begin_object().key("name").string(matching[i]->name);
    write_row_view(writer, {interface, *matching[i], change});
    writer.end_object();
  }
  writer.end_array();
}

void write_facts(JsonWriter& writer, const SpanReading& reading, const InterfaceOrder& order) {
  constexpr std::size_t kFactsMax = 10;
  std::size_t written = 0;
  writer.key("facts").begin_array();
  for (const past::Fact& each : reading.facts) {
    const bool concerns = each.statistic.empty() || each.statistic == order.statistic.value_or("");
    if (!concerns || ++written > kFactsMax) continue;
    writer.begin_object().key("begin_us").number(each.span.begin_us);
    writer.key("end_us").number(each.span.end_us);
    writer.key("reason").string(each.reason).end_object();
  }
  writer.end_array();
}

bool is_written_otherwise(std::string_view key) {
  return key == "time_us" || key == "realtime_us" || key == "statistics";
}

}  // namespace

JsonBody interface_json(const Followed& followed, KeptOrders& orders, const InterfaceOrder& order) {
  JsonBody made;
  JsonWriter writer(made.text);
  writer.begin_object().key("time_us").number(followed.now.time_us);
  writer.key("realtime_us").number(followed.now.realtime_us);
  made.same_from = made.text.size();
  for (std::size_t i = 0; i < followed.json.keys.size(); ++i) {
    if (is_written_otherwise(followed.json.keys[i])) continue;
    writer.key(followed.json.keys[i]);
    write_json(writer, followed.json.items[i]);
  }
  write_statistics(writer, followed, order);
  if (!order.is_by_name) {
    writer.key("view").begin_object();
    write_rows(
        writer, followed.now, [&](const std::string& name) { return change_of(followed, name); },
        order, &orders);
    writer.end_object();
  }
  writer.end_object();
  return made;
}

JsonBody span_json(const SpanReading& reading, const InterfaceOrder& order) {
  const view::Interface& interface = reading.interface;
  const FindChange find = [&](const std::string& name) { return change_in(interface, name); };
  JsonBody made;
  JsonWriter writer(made.text);
  writer.begin_object().key("interface").string(interface.name);
  writer.key("begin_us").number(reading.span.begin_us).key("end_us").number(reading.span.end_us);
  writer.key("from").string(reading.from == SpanReading::From::kStore ? "store" : "kept");
  write_facts(writer, reading, order);
  writer.key("statistics").begin_array();
  for (const view::Statistic& each : interface.statistics) {
    if (order.statistic && each.name != *order.statistic) continue;
    writer.begin_object().key("name").string(each.name).key("type").string(each.type);
    writer.key("units").string(each.units).key("samples").number(each.samples);
    writer.key("view").begin_object();
    write_full_view(writer, {interface, each, find(each.name)});
    writer.end_object().end_object();
  }
  writer.end_array().key("view").begin_object();
  write_rows(writer, interface, find, order, nullptr);
  writer.end_object().end_object();
  return made;
}

}  // namespace tallyfs::web
