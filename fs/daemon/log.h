// Where the daemon's log goes while it has a standard error. Errors before there is a log, too.
#pragma once

#include <string>

namespace tallyfs {

// To stderr, which is read by a person, with times; or by systemd's journal ($JOURNAL_STREAM), which
// notes them itself and gets priorities instead, sd-daemon(3).
void log_to_terminal_or_journal();

// Before there is a log: "tallyfs: REASON" on stderr.
void say_error(const std::string& reason);

}  // namespace tallyfs
