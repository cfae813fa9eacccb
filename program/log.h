// The log of a program: lines of text with a level, to stderr, to systemd's journal or to syslog.
//
// The logger is spdlog; only log.cpp includes it, since each file that does compiles for three
// seconds. Any thread may log. The places and levels are set before the second thread starts.
#pragma once

#include <string>

namespace tallyfs {

void log_info(const std::string& text);
void log_warning(const std::string& text);
void log_error(const std::string& text);

// Lines of a lower level are dropped: "trace", "debug", "info", "warn", "err" or "off".
void set_log_level(const std::string& level);

// Lines with time, name of the program and level.
void log_to_stderr(const std::string& program);

// Lines with a priority, as sd-daemon(3) says: the journal notes the time itself.
void log_to_journal(const std::string& program);

void log_to_syslog(const std::string& program);

}  // namespace tallyfs
