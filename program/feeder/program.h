// The parts that the ready-made feeders' programs share: their options, their log on stderr, READY
// on stdout, and the set-up of libtally, which reports the state of the daemon to that log.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/result.h"
#include "program/command_line.h"

namespace tallyfs {

struct ProgramOptions {
  std::string name;  // of the program
  std::string socket;
  std::string log_level = "info";
};

// With --socket, --log-level, --help and --version. `options` must outlive its parse().
CommandLine make_command_line(const std::string& description, ProgramOptions& options);
// For feeders that read the kernel's events: adds --poll-ms, whose default is poll_ms.
void add_poll_option(CommandLine& line, unsigned& poll_ms);
// For feeders that make statistics of names which strangers write: adds --series-max and
// --series-per-name-max.
void add_series_options(CommandLine& line, std::uint64_t& series_max, std::uint64_t& per_name_max);

// The log, and libtally: a full queue is waited for, and samples are held for a daemon that comes
// later. Before the first interface is created. statistics_max: how many statistics the program may
// have; 0: some thousands.
Result<void> set_up(const ProgramOptions& options, std::uint32_t statistics_max = 0);

// Tells READY to the supervisor that started the program.
void say_ready();

// Logs the error; returns the exit status for it.
int log_failure(const Error& error);

}  // namespace tallyfs
