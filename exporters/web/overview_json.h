// `statistics.json` with "view": the interfaces that are asked for, with rates, the last
// minute and its p99. It changes nothing but what the watch keeps for that.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/json.h"
#include "exporters/web/kept_orders.h"
#include "exporters/web/watch.h"

namespace tallyfs::web {

struct OverviewOrder {
  enum class By { kRate, kName, kSlowest };
  By by = By::kRate;
  std::string filter{};  // filter.h
  std::size_t first = 0;
  std::size_t rows = 100;
  std::uint64_t as = 0;  // the number of an order that rows keep; 0: none
};

// A body whose end, from `same_from` on, is the same as long as nothing is counted: the clocks
// stand before it.
struct JsonBody {
  std::string text;
  std::size_t same_from = 0;
};

// `refusal`: why nothing can be changed; empty if it can.
JsonBody overview_json(Watch& watch, KeptOrders& orders, const OverviewOrder& order,
                       const std::string& refusal);

// The highest p99 of all interfaces for which one is known, or null.
void write_worst(JsonWriter& writer, Watch& watch);

}  // namespace tallyfs::web
