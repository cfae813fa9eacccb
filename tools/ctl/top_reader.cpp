#include "tools/ctl/top_reader.h"

#include <poll.h>

#include <algorithm>
#include <utility>

namespace tallyfs {

using std::chrono::microseconds;

TopReader::TopReader(TopSource source, microseconds period, OpenAt open_at, std::string map_store)
    : source_(std::move(source)),
      open_at_(std::move(open_at)),
      map_store_(std::move(map_store)),
      thread_([this, period] { run({.period = period}); }) {}

TopReader::~TopReader() {
  orders_.put({.ends = true});
  thread_.join();
}

void TopReader::run(TopOrders orders) {
  const bool is_recorded = source_.source->mount().empty();
  while (!orders.ends) {
    moments_.put(read(orders));
    bool has_orders = wait_for_orders(orders.period);
    // A recording goes on with time, not with orders; its end stays on the screen. A place that
    // could not be opened is tried again.
    if (is_recorded && !has_orders && place_ == orders.place.number) {
      const auto next =
          source_.source->next(orders.speed > 1 ? source_.source->period() * orders.speed
                                                : microseconds(0));
      const bool has_next = next && next.value() == Source::Next::kMoment;
      if (!has_next) has_orders = wait_for_orders(std::nullopt);
    }
    if (!has_orders) continue;
    if (auto newest = orders_.take()) orders = *std::move(newest);
  }
}

bool TopReader::wait_for_orders(std::optional<microseconds> period) const {
  pollfd polled{.fd = orders_.fd(), .events = POLLIN, .revents = 0};
  const auto millis =
      std::chrono::ceil<std::chrono::milliseconds>(period.value_or(microseconds(0)));
  return ::poll(&polled, 1, period ? static_cast<int>(millis.count()) : -1) > 0;
}

Result<void> TopReader::go_to(const TopPlace& place) {
  if (place_ == place.number) return {};
  auto opened = open_at_(place.realtime_us);
  if (!opened) return opened.error();
  source_ = std::move(opened).value();
  place_ = place.number;
  return {};
}

TopMoment TopReader::read(const TopOrders& orders) {
  TopMoment made;
  if (const auto done = go_to(orders.place); !done) made.fault = done.error().reason;
  made.place = orders.place.number;
  if (!made.fault.empty()) return made;
  auto tree = read_tree(*source_.source);
  if (!tree) {
    made.fault = tree.error().reason;
    return made;
  }
  made.tree = std::move(tree).value();
  if (source_.damaged) made.damaged = source_.damaged();
  if (const auto own = read_interface(*source_.source, "tallyfs")) {
    const view::Statistic* const dropped = own.value().find("dropped");
    const auto* value = dropped ? std::get_if<view::Value>(&dropped->values) : nullptr;
    if (value) made.dropped = static_cast<std::uint64_t>(value->total);
  }
  if (orders.interface.empty()) return made;
  auto read = read_interface(*source_.source, orders.interface);
  if (read) made.interface = std::move(read).value();
  read_map(orders, made);
  return made;
}

void TopReader::read_map(const TopOrders& orders, const TopMoment& moment) {
  if (map_store_.empty() || map_ == orders.map.number || !moment.interface) return;
  const view::Statistic* const found = moment.interface->find(orders.map.statistic);
  if (!found) return;
  map_ = orders.map.number;
  map_pasts_.put(read_map_past(map_store_, *moment.interface, *found, orders.map.period));
}

}  // namespace tallyfs
