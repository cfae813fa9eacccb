#include "program/feeder/program.h"

#include <cstdio>
#include <cstring>

#include "program/log.h"
#include "tally/clock.h"
#include "tally/statistic.h"

namespace tallyfs {
namespace {

constexpr std::uint32_t kWaitMs = 100;
constexpr std::uint32_t kHeldMax = 65'536;
constexpr unsigned kUpkeepMs = 60'000;

// That a daemon is there is news; all other reports are of what is not counted, or not yet.
void log_report(const char* text, void*) {
  const std::string report = text;
  if (report.starts_with("sending to ")) {
    log_info(report);
  } else {
    log_warning(report);
  }
}

}  // namespace

CommandLine make_command_line(const std::string& description, ProgramOptions& options) {
  CommandLine line(description, options.name, ::tally_version());
  line.add({.names = "--socket",
            .variable = &options.socket,
            .value = "PATH",
            .text = "the daemon's socket; else $TALLY_SOCKET, else its default"});
  line.add({.names = "--log-level",
            .variable = &options.log_level,
            .value = "LEVEL",
            .text = "what is logged on stderr: trace, debug, info, warn, err or off",
            .check = OneOf{{"trace", "debug", "info", "warn", "err", "off"}}});
  return line;
}

void add_poll_option(CommandLine& line, unsigned& poll_ms) {
  line.add({.names = "--poll-ms",
            .variable = &poll_ms,
            .value = "TIME",
            .text = "how long events gather before they are read",
            .check = Time{1, 1000, TimeUnit::kMilliseconds}});
}

void add_series_options(CommandLine& line, std::uint64_t& series_max, std::uint64_t& per_name_max) {
  line.add({.names = "--series-max",
            .variable = &series_max,
            .value = "N",
            .text = "the most statistics; samples beyond go to NAME{*}",
            .check = InRange{1, 30'000},
            .bounds = "1 to 30000"});
  line.add({.names = "--series-per-name-max",
            .variable = &per_name_max,
            .value = "N",
            .text = "the most statistics of one name",
            .check = InRange{1, 30'000},
            .bounds = "1 to 30000"});
}

Result<void> set_up(const ProgramOptions& options, std::uint32_t statistics_max) {
  log_to_stderr(options.name);
  set_log_level(options.log_level);
  statistic_settings settings = STATISTIC_SETTINGS_DEFAULT;
  if (!options.socket.empty()) settings.socket = options.socket.c_str();
  settings.wait_ms = kWaitMs;
  settings.held_max = kHeldMax;
  settings.report = log_report;
  settings.statistics_max = statistics_max;
  if (const int error = ::statistic_configure(&settings); error != 0) {
    return Error{ErrorCode::kInvalid,
                 "socket path '" + options.socket + "': " + std::strerror(-error)};
  }
  // Whether the counter is still to be trusted; without the thread, the clock goes on unasked.
  (void)::tally_clock_start_upkeep(kUpkeepMs);
  return {};
}

void say_ready() {
  std::puts("READY");
  std::fflush(stdout);
}

int log_failure(const Error& error) {
  log_error(error.reason);
  return 1;
}

}  // namespace tallyfs
