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
#include "exporters/web/span.h"
#include "tools/display/heat_colour.h"
#include "tools/display/statistic.h"

namespace tallyfs::web {

struct HeatOrder {
  std::size_t seconds = 60;
  view::Steps steps = view::Steps::kLog;
  std::size_t bins_max = 64;
  std::size_t columns_max = 300;
};

// The columns of a picture, oldest first, and how many seconds one covers where no reading was
// missed.
struct HeatColumns {
  std::vector<PastColumn> columns;
  std::uint64_t seconds_each = 1;
};

// The columns of the newest `seconds` of the order. Columns are merged if there are more than
// `columns_max`, and one that the begin of the time cuts.
HeatColumns columns_of(const Past& past, const HeatOrder& order);

// Writes into an object that the caller began. The statistic has bins.
void write_heat(JsonWriter& writer, const view::Statistic& statistic, const HeatColumns& shown,
                const HeatOrder& order);

std::string heat_json(const std::string& interface, const PastReading& reading,
                      const HeatOrder& order);
// Writes into an object that the caller began how many of its statistics a sum's past is of, and
// which times of the store are damaged: kFactsMax of them, and how many more.
void write_what_lacks(JsonWriter& writer, const PastReading& reading);

}  // namespace tallyfs::web
