// `data.json` of an interface with "view": all of its statistics in full, or one of them in full
// and a row for each that is asked for. The same of sums by a label, and of a span of the past.
// Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "exporters/web/family.h"
#include "exporters/web/overview_json.h"
#include "exporters/web/span.h"
#include "exporters/web/watch.h"

namespace tallyfs::web {

struct InterfaceOrder {
  std::optional<std::string> statistic{};  // the one in full; without it all are
  std::string label{};                     // sums over all others are shown; empty: statistics
  std::string filter{};                    // of the rows: filter.h
  enum class By : std::uint8_t { kDefined, kName, kRate, kValue };
  By by = By::kDefined;
  bool only_counted = false;  // rows of those that have samples
  std::uint64_t as = 0;       // the number of an order that rows keep; 0: none
  std::size_t first = 0;
  std::size_t rows = 100;
  bool is_by_name = false;  // `statistics` is an object by name, and there are no rows
};

JsonBody interface_json(const Followed& followed, KeptOrders& orders, const InterfaceOrder& order);
// interface_json() for sums. before: the sums at the begin of the interval, or nullptr.
JsonBody sums_json(const Family& now, const Family* before, KeptOrders& orders,
                   const InterfaceOrder& order);
// kNotFound: no statistic has order.label.
Result<JsonBody> span_json(const SpanReading& reading, const InterfaceOrder& order);

}  // namespace tallyfs::web
