// The part behind the word `latency` in a line of FORMAT.md. Pure; views last as long as the line.
#pragma once

#include <cstddef>

#include "core/base/result.h"
#include "core/base/text.h"
#include "core/wire/line.h"

namespace tallyfs::wire {

// `TYPE ns=N cpu=N [pid=N] [prio=N] [comm=NAME]`, the keys in any order, each at most once; the
// line ends at line_end; or `TYPE reset`, `TYPE remove`. kInvalid, with the offending token.
Result<LatencyLine> parse_latency(Tokens& tokens, std::size_t line_end);

}  // namespace tallyfs::wire
