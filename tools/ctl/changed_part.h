// The part of a store that show --changed reads: a span with its baseline, in points that are fine
// enough.
// Pure functions of a store.
#pragma once

#include "core/base/result.h"
#include "tools/past/store_reader.h"
#include "tools/past/stored_pasts.h"

namespace tallyfs {

// The span with as many spans of baseline before it as the store has finely enough, at most nine.
// kInvalid: it has not even two; the reason says which span would do.
Result<past::StoredPasts::Part> with_baseline(past::StoreReader& store, const past::Span& span);
// The span with the newest spans of that time, at most nine, as its baseline. What the time shares
// with the span is left out. kInvalid, too, if the rest is shorter than two of them.
Result<past::StoredPasts::Part> with_baseline_of(past::StoreReader& store, const past::Span& span,
                                                 const past::Span& wanted);

}  // namespace tallyfs
