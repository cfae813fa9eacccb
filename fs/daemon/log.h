// The daemon's log while it has a standard error, and errors before there is a log.
#pragma once

#include <string>

namespace tallyfs {

enum class LogPlace { kTerminal, kJournal, kSyslog, kNowhere };

// Logs to stderr, and says which of the first two that is. For a person, lines have times. For
// systemd's journal ($JOURNAL_STREAM), which adds times itself, lines have priorities instead,
// sd-daemon(3).
LogPlace log_to_terminal_or_journal();

// Before there is a log: "tallyfs: REASON" on stderr.
void say_error(const std::string& reason);

}  // namespace tallyfs
