// The part behind the word `latency` in a line of FORMAT.md. Pure; views last as long as the line.
#pragma once

#include <cstddef>

#include "core/base/text.h"
#include "core/wire/line.h"

namespace tallyfs::wire {

// `TYPE ns=N cpu=N [pid=N] [prio=N] [comm=NAME]`, the keys in any order, each at most once; the
// line ends at line_end; or `TYPE reset`, `TYPE remove`. The fault has the offending token.
Parsed<LatencyLine> parse_latency(Tokens& tokens, std::size_t line_end);

}  // namespace tallyfs::wire
