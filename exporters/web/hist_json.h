// Histogram triggers as tables: `hist.json` of an event with headings and texts, so that the page
// only draws. A pure function.
//
// Its answer is {"hist","triggers":[{"trigger","hits_text","dropped_text","columns":[{"name",
// "is_key"}],"rows":[{"cells":[],"text","share","part"}],"matching"}]}: for each trigger its rows
// in the order of `hist`, the first kHistRowsMax of them. `part` and `share` are of the hit counts.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/result.h"
#include "tools/tree/json.h"

namespace tallyfs::web {

inline constexpr std::size_t kHistRowsMax = 500;

// kInvalid: it is no `hist.json`.
Result<std::string> hist_json(const std::string& name, const Json& hists);

}  // namespace tallyfs::web
