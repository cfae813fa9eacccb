#include "tools/ctl/top_reader.h"

#include <poll.h>

#include <algorithm>

namespace tallyfs {

using std::chrono::microseconds;

TopReader::TopReader(std::unique_ptr<Source> source, microseconds period)
    : source_(std::move(source)), thread_([this, period] { run({.period = period}); }) {}

TopReader::~TopReader() {
  orders_.put({.ends = true});
  thread_.join();
}

void TopReader::run(TopOrders orders) {
  const bool is_recorded = source_->mount().empty();
  while (!orders.ends) {
    moments_.put(read(orders.interface));
    bool has_orders = wait_for_orders(orders.period);
    // A recording goes on with time, not with orders; its end stays on the screen.
    if (is_recorded && !has_orders) {
      const auto next = source_->next(microseconds(0));
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

TopMoment TopReader::read(const std::string& interface) {
  TopMoment made;
  auto tree = read_tree(*source_);
  if (!tree) {
    made.fault = tree.error().reason;
    return made;
  }
  made.tree = std::move(tree).value();
  if (const auto own = read_interface(*source_, "tallyfs")) {
    const view::Statistic* const dropped = own.value().find("dropped");
    const auto* value = dropped ? std::get_if<view::Value>(&dropped->values) : nullptr;
    if (value) made.dropped = static_cast<std::uint64_t>(value->total);
  }
  if (interface.empty()) return made;
  if (auto read = read_interface(*source_, interface)) made.interface = std::move(read).value();
  return made;
}

}  // namespace tallyfs
