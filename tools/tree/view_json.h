// The numbers that tallyctl and tally-web add to the daemon's JSON, under "view": rates, and
// percentiles with their bounds. Pure functions.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tools/display/change.h"
#include "tools/display/statistic.h"
#include "tools/tree/json.h"

namespace tallyfs {

// Appends the interface's object, of the statistics of which `wanted` is true. `change`: of a
// statistic since the snapshot before; nothing without one.
using WantStatistic = std::function<bool(const std::string& name)>;
using FindChange = std::function<std::optional<view::Change>(const std::string& name)>;
void write_interface(JsonWriter& writer, const Json& json, const view::Interface& interface,
                     const WantStatistic& wanted, const FindChange& change);

// The keys of a statistic's "view", into an object that the caller began.
void write_view(JsonWriter& writer, const view::Statistic& statistic,
                const std::optional<view::Change>& change);

}  // namespace tallyfs
