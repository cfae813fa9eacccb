#include "exporters/web/overview_json.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "exporters/web/filter.h"
#include "exporters/web/shown_names.h"
#include "tools/display/quantity.h"

namespace tallyfs::web {
namespace {

struct Row {
  const view::InterfaceSummary* summary = nullptr;
  const view::RecentRate* rate = nullptr;
  double smooth = -1;  // of the rate; -1: not known
};

// Orders times first, then p99s that are no times (-1), interfaces without a p99 (-2), and last
// those whose p99 is not known (-3).
double slowness_of(Watch& watch, const Row& row) {
  const auto& slowest = watch.slowest(row.summary->name);
  if (slowest) return slowest->nanoseconds;
  return watch.knows_slowest(row.summary->name) ? -2 : -3;
}

std::vector<Row> rows_of(Watch& watch, const OverviewOrder& order) {
  std::vector<Row> made;
  const Filter filter(order.filter);
  made.reserve(watch.rates().size());
  // They are in the order of their names.
  for (const auto& [name, rate] : watch.rates()) {
    if (!filter.matches(name)) continue;
    made.push_back({rate.summary, &rate.recent, rate.recent.smooth().value_or(-1)});
  }
  if (order.by != OverviewOrder::By::kName) {
    std::ranges::stable_sort(made, std::greater<>(), &Row::smooth);
  }
  if (order.by == OverviewOrder::By::kSlowest) {
    std::ranges::stable_sort(made, std::greater<>(),
                             [&](const Row& row) { return slowness_of(watch, row); });
  }
  return made;
}

std::string rate_text(const Row& row) {
  if (row.summary->on == 0) return "off";
  return row.rate->last() ? view::rate_text(*row.rate->last()) : "-";
}

void write_row(JsonWriter& writer, const Row& row, Watch& watch) {
  const view::InterfaceSummary& summary = *row.summary;
  const std::optional<Slowest>& slowest = watch.slowest(summary.name);
  writer.begin_object().key("interface").string(summary.name);
  writer.key("statistics").number(summary.statistics).key("on").number(summary.on);
  writer.key("samples").number(summary.samples).key("serial").number(summary.serial);
  writer.key("view").begin_object().key("rate");
  if (row.rate->last())
    writer.decimals(*row.rate->last(), 3);
  else
    writer.null();
  writer.key("rate_text").string(rate_text(row)).key("p99");
  if (slowest) {
    writer.begin_object().key("statistic").string(slowest->statistic);
    writer.key("text").string(slowest->text).key("bounds").string(slowest->bounds).end_object();
  } else {
    writer.null();
  }
  writer.key("p99_known").boolean(watch.knows_slowest(summary.name));
  writer.key("minute").begin_array();
  for (const double each : row.rate->minute()) writer.decimals(each, 1);
  writer.end_array().end_object().end_object();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

void write_view(JsonWriter& writer, const Watch& watch, const std::string& refusal) {
  std::uint64_t statistics = 0;
  for (const view::InterfaceSummary& each : watch.tree().interfaces) statistics += each.statistics;
  writer.key("host").string(host_name()).key("mount").string(watch.mount());
  writer.key("interfaces").number(watch.tree().interfaces.size());
  writer.key("statistics").number(statistics);
  const auto rate = watch.rate();
  writer.key("rate_text").string(rate ? view::rate_text(*rate) : std::string("-"));
  const auto dropped = watch.dropped();
  writer.key("dropped_text").string(dropped ? view::grouped_text(*dropped) : std::string("-"));
  writer.key("counts_since_us").number(watch.counts_since_us());
  writer.key("keep_s").number(watch.columns_max());
  writer.key("read_only").string(refusal);
  writer.key("latencies").begin_array();
  for (const std::string& each : watch.latencies()) writer.string(each);
  writer.end_array();
}

void write_found(JsonWriter& writer, const Watch::Search& search, ShownNames& names) {
  writer.key("found").begin_array();
  for (const auto& [interface, statistic] : search.found) {
    names.add(statistic);
    writer.string(interface + "/" + statistic);
  }
  writer.end_array().key("found_all").number(search.count);
  writer.key("searched").number(search.searched);
}

bool is_clock(std::string_view key) { return key == "time_us" || key == "realtime_us"; }

}  // namespace

void write_worst(JsonWriter& writer, Watch& watch) {
  const std::string* name = nullptr;
  const Slowest* worst = nullptr;
  for (const auto& [interface, rate] : watch.rates()) {
    const auto& found = watch.slowest(interface);
    if (!found || found->nanoseconds < 0) continue;
    if (worst && worst->nanoseconds >= found->nanoseconds) continue;
    name = &interface;
    worst = &*found;
  }
  if (!worst) {
    writer.null();
    return;
  }
  writer.begin_object().key("interface").string(*name).key("statistic").string(worst->statistic);
  ShownNames names;
  names.add(worst->statistic);
  names.write(writer);
  writer.key("text").string(worst->bounds).end_object();
}

JsonBody overview_json(Watch& watch, KeptOrders& orders, const OverviewOrder& order,
                       const std::string& refusal) {
  JsonBody made;
  JsonWriter writer(made.text);
  writer.begin_object().key("time_us").number(watch.tree().time_us);
  writer.key("realtime_us").number(watch.tree().realtime_us);
  made.same_from = made.text.size();
  const Json& tree = watch.tree_json();
  for (std::size_t i = 0; i < tree.keys.size(); ++i) {
    if (is_clock(tree.keys[i]) || tree.keys[i] == "interfaces") continue;
    writer.key(tree.keys[i]);
    write_json(writer, tree.items[i]);
  }
  std::vector<Row> rows = rows_of(watch, order);
  const std::uint64_t number = orders.arrange(
      rows, order.as, [](const Row& row) { return std::string_view(row.summary->name); });
  ShownNames names;
  writer.key("interfaces").begin_array();
  for (std::size_t i = order.first; i < std::min(rows.size(), order.first + order.rows); ++i) {
    const auto& slowest = watch.slowest(rows[i].summary->name);
    if (slowest) names.add(slowest->statistic);
    write_row(writer, rows[i], watch);
  }
  writer.end_array().key("view").begin_object();
  writer.key("matching").number(rows.size()).key("first").number(order.first);
  writer.key("order").number(number);
  if (!order.filter.empty()) write_found(writer, watch.search(Filter(order.filter)), names);
  names.write(writer);
  write_view(writer, watch, refusal);
  writer.end_object().end_object();
  return made;
}

}  // namespace tallyfs::web
