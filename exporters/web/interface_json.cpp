#include "exporters/web/interface_json.h"

#include <algorithm>
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
  writer.key("statistics").begin_array();
  const Json* const all = followed.json.find("statistics");
  const std::size_t size =
      all ? std::min(all->items.size(), followed.now.statistics.size()) : std::size_t{0};
  for (std::size_t i = 0; i < size; ++i) {
    const std::string& name = followed.now.statistics[i].name;
    if (order.statistic && name != *order.statistic) continue;
    write_statistic(writer, followed, i, all->items[i]);
  }
  writer.end_array();
}

void write_rows(JsonWriter& writer, const Followed& followed, const InterfaceOrder& order) {
  std::vector<const view::Statistic*> matching;
  const Filter filter(order.filter);
  for (const view::Statistic& each : followed.now.statistics) {
    if (filter.matches(each.name)) matching.push_back(&each);
  }
  writer.key("of").number(followed.now.statistics.size());
  writer.key("matching").number(matching.size()).key("first").number(order.first);
  writer.key("rows").begin_array();
  for (std::size_t i = order.first; i < std::min(matching.size(), order.first + order.rows); ++i) {
    const auto change = change_of(followed, matching[i]->name);
    writer.begin_object().key("name").string(matching[i]->name);
    write_row_view(writer, {followed.now, *matching[i], change});
    writer.end_object();
  }
  writer.end_array();
}

bool is_written_otherwise(std::string_view key) {
  return key == "time_us" || key == "realtime_us" || key == "statistics";
}

}  // namespace

JsonBody interface_json(const Followed& followed, const InterfaceOrder& order) {
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
  writer.key("view").begin_object();
  write_rows(writer, followed, order);
  writer.end_object().end_object();
  return made;
}

}  // namespace tallyfs::web
