// Definition lines that make a statistic another type: what the type needs, with values that fit
// the statistic's units and what it has counted. They are proposals: the daemon alone judges a
// line. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tools/display/statistic.h"

namespace tallyfs::view {

// Whether a range_min or range_max leaves its end open. People are not shown such a key.
bool is_open_end(std::string_view key, std::string_view value);

// The line that would make it what it is, with name= and on=, without open ends.
std::string definition_line(const Statistic& statistic);

// The line that would make it a statistic of one of kStatisticTypes. Keys of its type that the
// other one does not have are left out, those that both have stay. range_min and range_max stay,
// unless they are, or become, the scale of an array.
std::string line_as(const Statistic& statistic, std::string_view type);

// The line with what its type= also needs; nothing if it has no known type, or lacks nothing.
// `statistic`: what it is for; null if that is not known.
std::optional<std::string> completed_line(std::string_view line, const Statistic* statistic);

// The data that a new definition or a reset would discard: "3,182 requests", "a total of 6"; empty:
// there are none.
std::string held_text(const Statistic& statistic);

}  // namespace tallyfs::view
