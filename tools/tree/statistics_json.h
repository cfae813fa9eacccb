// `statistics.json` and `data.json` as the values of tools/display. Unknown keys are passed over,
// since a format only grows; a newer format is refused by its number. Pure functions.
#pragma once

#include "core/base/result.h"
#include "tools/display/statistic.h"
#include "tools/tree/json.h"

namespace tallyfs {

inline constexpr std::uint64_t kFormat = 1;

// kInvalid: it is something else, a column is shorter than its neighbours, or a newer format.
Result<view::Tree> to_tree(const Json& json);
Result<view::Interface> to_interface(const Json& json);

}  // namespace tallyfs
