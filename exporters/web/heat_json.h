// A heat map as JSON: bins, columns with their counts, the least count of each colour, and the
// colours. Neighbouring columns and bins merge where there are more than the page can show.
//
// Each column says how many seconds it covers: colours are of its counts in `seconds_each` of them.
// A pure function; its time grows as the number of hits does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "exporters/web/past.h"
#include "tools/display/heat_colour.h"
#include "tools/display/statistic.h"

namespace tallyfs::web {

struct HeatOrder {
  std::size_t seconds = 60;
  view::Steps steps = view::Steps::kLog;
  std::size_t bins_max = 64;
  std::size_t columns_max = 300;
};

// What is drawn: columns, oldest first, and how many seconds one covers where nothing was missed.
struct HeatColumns {
  std::vector<PastColumn> columns;
  std::uint64_t seconds_each = 1;
};

// Those of the newest seconds that the order wants, merged where there are too many.
HeatColumns columns_of(const Past& past, const HeatOrder& order);

// Into an object that the caller began. `statistic` has bins.
void write_heat(JsonWriter& writer, const view::Statistic& statistic, const HeatColumns& shown,
                const HeatOrder& order);

std::string heat_json(const std::string& interface, const view::Statistic& statistic,
                      const Past& past, const HeatOrder& order);

}  // namespace tallyfs::web
