// Writes lines into definition files of a mount, and finds in tracing/error_log why one was
// refused. Any thread may call this.
#pragma once

#include <string>

#include "core/base/result.h"

namespace tallyfs {

// kInvalid: refused; the reason is the daemon's, with the line and a caret below it, or the errno's
// where the mount shows no error_log. Else as timed_file.h.
Result<void> write_definition(const std::string& mount, const std::string& interface,
                              const std::string& line);

// The newest entry of the log with this location and command: its reason, the command, the caret's
// line. Empty if there is none.
std::string find_reason(const std::string& log, const std::string& location,
                        const std::string& command);

}  // namespace tallyfs
