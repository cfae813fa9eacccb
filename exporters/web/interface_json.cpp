#include "exporters/web/interface_json.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "exporters/web/filter.h"
#include "exporters/web/shown_names.h"
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

// The number by which a row is ordered: its rate, or its p99, average or total.
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

// Writes the statistics that cannot be added to their sum. sum: writes those of this sum alone;
// nullptr: those of all.
void write_left_out(JsonWriter& writer, const Family& family, const std::string* sum,
                    ShownNames& names) {
  constexpr std::size_t kLeftOutMax = 10;
  std::size_t all = 0;
  writer.key("left_out").begin_array();
  for (const view::LeftOut& each : family.left_out) {
    if ((sum && each.sum != *sum) || ++all > kLeftOutMax) continue;
    names.add(each.name);
    writer.begin_object().key("name").string(each.name);
    writer.key("reason").string(each.reason).end_object();
  }
  writer.end_array().key("left_out_all").number(all);
}

// How many statistics it is of, the first of them, and, if it is the one in full, those that it
// lacks.
void write_sum(JsonWriter& writer, const Family& family, std::size_t at,
               const InterfaceOrder& order, ShownNames& names) {
  constexpr std::size_t kPartsMax = 5;
  const std::vector<std::string>& parts = family.parts[at];
  writer.key("sum").begin_object().key("label").string(family.label);
  writer.key("since_us").number(family.interface.realtime_at(family.oldest_us[at]));
  writer.key("parts").number(parts.size()).key("names").begin_array();
  for (std::size_t i = 0; i < std::min(parts.size(), kPartsMax); ++i) {
    names.add(parts[i]);
    writer.string(parts[i]);
  }
  writer.end_array();
  if (order.statistic) write_left_out(writer, family, &*order.statistic, names);
  writer.end_object();
}

// An interface whose statistics rows are of; `family`: they are its sums.
struct Shown {
  const view::Interface& interface;
  const FindChange& find_change;
  const Family* family = nullptr;
};

// The labels by which its statistics can be added up.
std::vector<std::string> labels_of(const Shown& shown) {
  if (shown.family) return shown.family->labels;
  std::vector<const view::Statistic*> all;
  all.reserve(shown.interface.statistics.size());
  for (const view::Statistic& each : shown.interface.statistics) all.push_back(&each);
  return view::labels_of(all);
}

void write_row(JsonWriter& writer, const Shown& shown, const view::Statistic& statistic) {
  writer.begin_object().key("name").string(statistic.name);
  if (shown.family) {
    const std::size_t at =
        static_cast<std::size_t>(&statistic - shown.interface.statistics.data());
    writer.key("parts").number(shown.family->parts[at].size());
  }
  write_row_view(writer, {shown.interface, statistic, shown.find_change(statistic.name)});
  writer.end_object();
}

void write_rows(JsonWriter& writer, const Shown& shown, const InterfaceOrder& order,
                KeptOrders* orders, ShownNames& names) {
  auto matching = matching_of(shown.interface, shown.find_change, order);
  if (orders) {
    writer.key("order").number(orders->arrange(
        matching, order.as, [](const auto* each) { return std::string_view(each->name); }));
  }
  writer.key("of").number(shown.interface.statistics.size());
  writer.key("matching").number(matching.size()).key("first").number(order.first);
  writer.key("rows").begin_array();
  for (std::size_t i = order.first; i < std::min(matching.size(), order.first + order.rows); ++i) {
    names.add(matching[i]->name);
    write_row(writer, shown, *matching[i]);
  }
  writer.end_array().key("labels").begin_array();
  for (const std::string& each : labels_of(shown)) writer.string(each);
  writer.end_array();
  if (shown.family) write_left_out(writer, *shown.family, nullptr, names);
}

// Statistics of which there is no JSON of the daemon's: those of a span, and sums.
void write_counted(JsonWriter& writer, const Shown& shown, const InterfaceOrder& order,
                   ShownNames& names) {
  writer.key("statistics").begin_array();
  for (std::size_t i = 0; i < shown.interface.statistics.size(); ++i) {
    const view::Statistic& each = shown.interface.statistics[i];
    if (order.statistic && each.name != *order.statistic) continue;
    names.add(each.name);
    writer.begin_object().key("name").string(each.name).key("type").string(each.type);
    writer.key("units").string(each.units).key("samples").number(each.samples);
    if (shown.family) write_sum(writer, *shown.family, i, order, names);
    writer.key("view").begin_object();
    write_full_view(writer, {shown.interface, each, shown.find_change(each.name)});
    writer.end_object().end_object();
  }
  writer.end_array();
}

void write_facts(JsonWriter& writer, const SpanReading& reading, const InterfaceOrder& order) {
  std::size_t written = 0;
  writer.key("facts").begin_array();
  for (const past::Fact& each : reading.facts) {
    const bool concerns = each.statistic.empty() || each.statistic == order.statistic.value_or("");
    if (!concerns || ++written > kFactsMax) continue;
    write_fact(writer, each);
  }
  writer.end_array();
}

// True if one of the sum's statistics was removed: then its growth is unknown.
bool has_lost_part(const Family& before, const Family& now, const std::string& sum) {
  const auto at = now.find(sum);
  const auto was = before.find(sum);
  if (!at || !was) return false;
  return view::has_lost_part(before.parts[*was], now.parts[*at]);
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
    const FindChange find = [&](const std::string& name) { return change_of(followed, name); };
    ShownNames names;
    if (order.statistic) names.add(*order.statistic);
    writer.key("view").begin_object();
    write_rows(writer, {followed.now, find}, order, &orders, names);
    names.write(writer);
    writer.end_object();
  }
  writer.end_object();
  return made;
}

JsonBody sums_json(const Family& now, const Family* before, KeptOrders& orders,
                   const InterfaceOrder& order) {
  const FindChange find = [&](const std::string& name) -> std::optional<Change> {
    if (!before) return std::nullopt;
    if (has_lost_part(*before, now, name)) return Change{};
    return view::change_between(before->interface, now.interface, name);
  };
  const Shown shown{now.interface, find, &now};
  ShownNames names;
  JsonBody made;
  JsonWriter writer(made.text);
  writer.begin_object().key("time_us").number(now.interface.time_us);
  writer.key("realtime_us").number(now.interface.realtime_us);
  made.same_from = made.text.size();
  writer.key("interface").string(now.interface.name).key("epoch").string(now.interface.epoch);
  writer.key("serial").number(now.interface.serial);
  write_counted(writer, shown, order, names);
  writer.key("view").begin_object();
  write_rows(writer, shown, order, &orders, names);
  names.write(writer);
  writer.end_object().end_object();
  return made;
}

Result<JsonBody> span_json(const SpanReading& reading, const InterfaceOrder& order) {
  std::optional<Family> family;
  if (!order.label.empty()) {
    auto found = family_of(reading.interface, order.label, view::Begin::kOfOldest);
    if (!found) return found.error();
    family = std::move(found).value();
  }
  const view::Interface& interface = family ? family->interface : reading.interface;
  const FindChange find = [&](const std::string& name) { return change_in(interface, name); };
  const Shown shown{interface, find, family ? &*family : nullptr};
  ShownNames names;
  JsonBody made;
  JsonWriter writer(made.text);
  writer.begin_object().key("interface").string(interface.name);
  writer.key("begin_us").number(reading.span.begin_us).key("end_us").number(reading.span.end_us);
  writer.key("from").string(reading.from == SpanReading::From::kStore ? "store" : "kept");
  write_facts(writer, reading, order);
  write_counted(writer, shown, order, names);
  writer.key("view").begin_object();
  write_rows(writer, shown, order, nullptr, names);
  names.write(writer);
  writer.end_object().end_object();
  return made;
}

}  // namespace tallyfs::web
