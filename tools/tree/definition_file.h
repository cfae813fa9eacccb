// Writes lines into definition files of a mount, and finds in tracing/error_log what the daemon
// says of them. Any thread may call this.
#pragma once

#include <string>

#include "core/base/result.h"

namespace tallyfs {

// Whether a word that nothing reads refuses a line, or is skipped with a warning.
enum class Reading { kStrict, kTolerant };

// Returns the daemon's warning, with the line and a caret below it; empty: there is none.
// kInvalid, kNotFound: refused; the reason is the daemon's, likewise, or the errno's where the
// mount shows no error_log. Else as timed_file.h. strict=1 in the line itself changes nothing.
Result<std::string> write_definition(const std::string& mount, const std::string& interface,
                                     const std::string& line, Reading reading = Reading::kStrict);

// Why the newest line of this text that came through the socket was refused, likewise; empty: the
// log does not say.
std::string reason_of_sent(const std::string& mount, const std::string& line);

// What an entry of the log says. Both are empty if there is none.
struct LogEntry {
  std::string time;
  std::string text;  // its reason, the command, the caret's line
};
enum class LogKind { kError, kWarning };
// The newest entry of the log of this kind, with this location and command. The location
// "socket pid " is that of any sender.
LogEntry find_entry(const std::string& log, LogKind kind, const std::string& location,
                    const std::string& command);

}  // namespace tallyfs
