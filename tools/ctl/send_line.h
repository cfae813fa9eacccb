// One line of text to a daemon's socket, without an answer. Any thread may call this.
#pragma once

#include <string>

#include "core/base/result.h"

namespace tallyfs {

// kNotFound: there is no such socket, or no process holds it; kInvalid: all else.
Result<void> send_line(const std::string& socket, const std::string& line);

}  // namespace tallyfs
