// tally-feed-timer: how late timers wake an ordinary process, CPU by CPU. Needs no privileges.
//
// The main thread collects ten times a second. It asks for SCHED_BATCH, so that a sleeper that is
// due on its CPU need not wait for it.
#include <poll.h>
#include <sched.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <string>

#include "core/base/clock.h"
#include "feeders/client/sender.h"
#include "feeders/client/socket_path.h"
#include "feeders/client/stop_signal.h"
#include "feeders/timer/timer_feeder.h"

namespace tally {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kCollectPeriod = 100ms;

struct Options {
  std::string socket;
  std::string log_level = "info";
  unsigned period_us = 1000;
};

int fail(const Error& error) {
  spdlog::error("{}", error.reason);
  return 1;
}

void collect_until(const StopSignal& stop, TimerFeeder& feeder, Sender& sender) {
  pollfd waited{.fd = stop.fd(), .events = POLLIN, .revents = 0};
  while (::poll(&waited, 1, static_cast<int>(kCollectPeriod.count())) <= 0) {
    feeder.collect();
    sender.flush();
  }
}

int run(const Options& options) {
  const auto stop = StopSignal::create();
  if (!stop) return fail(stop.error());
  const auto cpus = allowed_cpus();
  if (!cpus) return fail(cpus.error());
  const SystemClock clock;
  Sender sender({.path = find_socket_path(options.socket),
                 .report = [](const std::string& what) { spdlog::info("{}", what); }},
                clock);
  auto feeder =
      TimerFeeder::start(cpus.value(), std::chrono::microseconds(options.period_us), sender);
  if (!feeder) return fail(feeder.error());
  // After the sleepers, which would inherit it.
  const sched_param priority{.sched_priority = 0};
  ::sched_setscheduler(0, SCHED_BATCH, &priority);

  std::puts("READY");
  std::fflush(stdout);
  collect_until(stop.value(), feeder.value(), sender);
  feeder.value().collect();
  sender.finish();
  return 0;
}

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Feeds tallyfs with the lateness of timers on each CPU.");
  app.set_version_flag("--version", "tally-feed-timer " TALLYFS_VERSION);
  app.add_option("--socket", options.socket,
                 "The daemon's socket (else $TALLY_SOCKET, else its default)");
  app.add_option("--period-us", options.period_us, "How long each sleep is")
      ->capture_default_str()
      ->check(CLI::Range(100u, 1'000'000u));
  app.add_option("--log-level", options.log_level, "What is told on stderr")
      ->capture_default_str()
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "err", "off"}));
  CLI11_PARSE(app, argc, argv);
  spdlog::set_default_logger(spdlog::stderr_logger_mt("tally-feed-timer"));
  spdlog::set_level(spdlog::level::from_str(options.log_level));
  return run(options);
}

}  // namespace
}  // namespace tally

int main(int argc, char** argv) { return tally::main(argc, argv); }
