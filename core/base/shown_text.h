// Text that others have written, and that is escaped already, or is full of backslashes of its own.
// Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tallyfs {

// Appends the first `bytes_max` bytes of text as append_escaped() does (text.h), but with
// backslashes as they are: what was appended once is the same when it is appended again. Each byte
// becomes at most four. Returns the column of the byte `at` of text, in the same way.
std::size_t append_shown(std::string& out, std::string_view text, std::size_t bytes_max,
                         std::size_t at);

}  // namespace tallyfs
