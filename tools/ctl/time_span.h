// SPAN on the command line, a piece of the past in times of the wall clock:
//
//   5m 2h 1d                   the last so long: from then to now
//   12:03                      that minute; with seconds that second
//   12:00..12:03  12:03+5m     from a time to another, and from a time on
//   "yesterday 23:00..00:30"   of another day; 2026-11-26 12:00, or 2026-11-26T12:00, too
//
// Pure functions, but for the clock and the time zone.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.h"
#include "tools/past/store.h"

namespace tallyfs {

// Microseconds of the wall clock.
std::uint64_t realtime_now_us();

struct Now {
  std::uint64_t realtime_us = 0;
  bool utc = false;  // times are of UTC; else of the local zone
};

// kInvalid says what is wrong, and shows a span that is right. A span that ends after now ends with
// it; one that begins there is refused.
Result<past::Span> parse_span(std::string_view text, const Now& now);

}  // namespace tallyfs
