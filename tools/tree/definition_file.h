// Writes lines into definition files of a mount, and finds the daemon's warnings and errors about
// them in tracing/error_log. Any thread may call these functions.
#pragma once

#include <string>

#include "core/base/result.h"

namespace tallyfs {

// Whether a word that nothing reads refuses a line, or is skipped with a warning.
enum class Reading { kStrict, kTolerant };

// Returns the daemon's warning, with the line and a caret below it; empty: there is none.
// kInvalid, kNotFound: the line was refused; the reason is the daemon's, also with line and caret,
// or the errno's text where the mount shows no error_log. Other errors are those of
// write_in_time(). A word strict=1 in the line is removed, and `reading` decides alone.
Result<std::string> write_definition(const std::string& mount, const std::string& interface,
                                     const std::string& line, Reading reading = Reading::kStrict);

// Why the newest line with this text that came through the socket was refused, with line and caret;
// empty: the log does not say.
std::string reason_of_sent(const std::string& mount, const std::string& line);

// An entry of the log. Both texts are empty if there is none.
struct LogEntry {
  std::string time;
  std::string text;  // its reason, the command, the caret's line
};
enum class LogKind { kError, kWarning };
// The newest entry of `log` with this kind, location and command. The location "socket pid "
// matches every sender.
LogEntry find_entry(const std::string& log, LogKind kind, const std::string& location,
                    const std::string& command);

}  // namespace tallyfs
