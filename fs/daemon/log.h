// Where the daemon's log goes. Errors before there is one, too.
#pragma once

#include <string>

namespace tallyfs {

// To stderr, which is read by a person, with times; or by systemd's journal ($JOURNAL_STREAM),
// which notes them itself and gets priorities instead, sd-daemon(3).
void log_to_stderr();

void log_to_syslog();

// Before there is a log: "tallyfs: REASON" on stderr.
void say_error(const std::string& reason);

}  // namespace tallyfs
