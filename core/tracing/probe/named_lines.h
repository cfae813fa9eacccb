// Translates a probe's line whose place is a name (a function or a marker) into lines that the
// kernel accepts: with numeric offsets, and registers instead of `$argN`. Values and pure
// functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/tracing/probe/found_places.h"
#include "core/tracing/probe/place_name.h"
#include "core/tracing/probe/probe_line.h"

namespace tallyfs::tracing {

// A place and its arguments, as the kernel accepts them.
struct PlaceText {
  std::string text;  // `PATH:OFFSET ARGUMENTS`
  // For each byte of the text, and for its end, the byte of the written line that it came from.
  std::vector<std::size_t> from;
  bool is_after_endbr64 = false;

  // The byte of the written line that became this byte of the text.
  std::size_t byte_of(std::size_t byte_of_text) const;
};

// For a line whose place is already one of the kernel's.
PlaceText text_of(const ProbeLine& line);
// A text for each place that was found. `$argN` is the N-th argument of the function, or of the
// marker; a marker's line without arguments gets all that can be fetched, arg1, arg2 and so on.
// kInvalid, with the byte of the line that is wrong; kTooBig: the text of a place is too long.
Result<std::vector<PlaceText>> texts_of(const ProbeLine& line, const PlaceName& place,
                                        const FoundPlaces& found);

}  // namespace tallyfs::tracing
