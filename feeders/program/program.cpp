#include "feeders/program/program.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstring>
#include <string_view>

#include "tally/clock.h"
#include "tally/statistic.h"

namespace tally {
namespace {

constexpr std::uint32_t kWaitMs = 100;
constexpr std::uint32_t kHeldMax = 65'536;
constexpr unsigned kUpkeepMs = 60'000;
constexpr int kUsageStatus = 2;

// What is refused is somebody's to put right; the rest is how things go.
spdlog::level::level_enum level_of(std::string_view report) {
  return report.find(" refused ") == report.npos ? spdlog::level::info : spdlog::level::warn;
}

}  // namespace

void add_options(CLI::App& app, ProgramOptions& options) {
  app.name(options.name);
  app.failure_message([](const CLI::App* of, const CLI::Error& error) {
    return of->get_name() + ": " + CLI::FailureMessage::simple(of, error);
  });
  app.set_version_flag("--version", options.name + " " + ::tally_version());
  app.add_option("--socket", options.socket,
                 "The daemon's socket (else $TALLY_SOCKET, else its default)");
  app.add_option("--log-level", options.log_level, "What is told on stderr")
      ->capture_default_str()
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "err", "off"}));
}

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageStatus;
  }
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

}  // namespace tally
