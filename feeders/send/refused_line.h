// The message of tally-send about a refused line: the line's number, the reason, and the place in
// the line. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace tallyfs {

// Three lines, or two if there is no place: message, the line, caret. What could steer a terminal
// is escaped; of a line longer than kShownBytesMax, the part around the place is shown.
//   tally-send: line 3: no such interface (No such file or directory)
//     define web on=1
//            ^
inline constexpr std::size_t kShownBytesMax = 512;
std::string describe(std::uint64_t line, const Error& error);
// The text about a line that took effect: "tally-send: line 3: warning: ...".
std::string describe_warning(std::uint64_t line, const Error& warning);

}  // namespace tallyfs
