#include "feeders/program/program.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "tally/clock.h"
#include "tally/statistic.h"

namespace tallyfs {
namespace {

constexpr std::uint32_t kWaitMs = 100;
constexpr std::uint32_t kHeldMax = 65'536;
constexpr unsigned kUpkeepMs = 60'000;

// A refusal needs a user's correction; other reports are ordinary.
spdlog::level::level_enum level_of(std::string_view report) {
  return report.find(" refused ") == report.npos ? spdlog::level::info : spdlog::level::warn;
}

}  // namespace

void add_options(CLI::App& app, ProgramOptions& options) {
  set_up_usage(app, options.name, ::tally_version());
  show_value(app.add_option("--socket", options.socket,
                            "the daemon's socket; else $TALLY_SOCKET, else its default"),
             "PATH");
  show_value(app.add_option("--log-level", options.log_level,
                            "what is told on stderr: trace, debug, info, warn, err or off")
                 ->check(CLI::IsMember({"trace", "debug", "info", "warn", "err", "off"})),
             "LEVEL");
}

Result<void> set_up(const ProgramOptions& options) {
  spdlog::set_default_logger(spdlog::stderr_logger_mt(options.name));
  spdlog::set_level(spdlog::level::from_str(options.log_level));
  statistic_settings settings = STATISTIC_SETTINGS_DEFAULT;
  if (!options.socket.empty()) settings.socket = options.socket.c_str();
  settings.wait_ms = kWaitMs;
  settings.held_max = kHeldMax;
  settings.report = [](const char* text, void*) { spdlog::log(level_of(text), "{}", text); };
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

int fail(const Error& error) {
  spdlog::error("{}", error.reason);
  return 1;
}

}  // namespace tallyfs
