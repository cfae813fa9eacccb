// tally-clock: what the clock of include/tally/clock.h is worth on this machine, as somebody wants
// to know before trusting it. Its text and its exit statuses are a promise,
// packaging/man/tally-clock.1.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <string>

#include "feeders/clock/program/cost.h"
#include "feeders/clock/program/watch.h"
#include "tally/clock.h"

namespace {

enum Status { kGood = 0, kOff = 1, kUsage = 2 };

struct Options {
  std::string driver;
  unsigned watch_seconds = 0;
  bool cost = false;
  bool quiet = false;
};

void print_status() {
  tally_clock_status status{};
  tally_clock_get_status(&status, sizeof status);
  const auto number = [](const char* what, std::uint64_t value) {
    std::printf("%-20s %llu\n", what, static_cast<unsigned long long>(value));
  };
  std::printf("%-20s %s\n", "driver", status.driver);
  number("width_bits", status.width_bits);
  std::printf("%-20s %.0f\n", "rate_hz", status.rate_hz);
  std::printf("%-20s %+.3f\n", "drift_ppm", status.drift_ppm);
  number("epoch", status.epoch);
  number("anchors", status.anchors);
  number("reach_s", status.reach_ns / 1'000'000'000);
  number("steps", status.steps);
  std::printf("%-20s %lld\n", "last_step_ns", static_cast<long long>(status.last_step_ns));
  number("leap_seconds", status.leap_seconds);
  number("suspends", status.suspends);
  number("gaps", status.gaps);
  number("jumps", status.jumps);
  number("frequency_changes", status.frequency_changes);
  number("fallbacks", status.fallbacks);
  number("error_ns", status.error_ns);
}

int run(const Options& options) {
  if (!options.driver.empty()) {
    if (const int error = tally_clock_select(options.driver.c_str()); error != 0) {
      std::fprintf(
          stderr, "tally-clock: driver %s: %s\n", options.driver.c_str(),
          error == -ENOENT ? "there is none of this name" : "not to be trusted on this machine");
      return kUsage;
    }
  }
  // The first two anchors, as far apart as a rate needs.
  sched_clock();
  ::usleep(100'000);
  tally_clock_upkeep();
  bool is_good = true;
  if (options.watch_seconds != 0) {
    is_good = tally::watch(options.watch_seconds,
                           options.quiet ? tally::Progress::kQuiet : tally::Progress::kShown);
  }
  if (options.cost) tally::print_costs();
  print_status();
  return is_good ? kGood : kOff;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Says what the instrumentation clock is worth on this machine.");
  app.set_version_flag("--version", "tally-clock " TALLYFS_VERSION);
  app.add_option("--driver", options.driver, "auto, tsc, cntvct, or monotonic");
  app.add_option("--watch", options.watch_seconds,
                 "hold it against the system's clocks for so many seconds")
      ->check(CLI::Range(1u, 1'000'000u));
  app.add_flag("--cost", options.cost, "measure what the calls cost");
  app.add_flag("-q,--quiet", options.quiet, "no progress");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kGood : kUsage;
  }
  return run(options);
}
