// tally-clock: the quality of the clock of include/tally/clock.h on this machine, to be known
// before the clock is trusted. Its text and its exit statuses are a promise,
// packaging/man/tally-clock.1.
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <string>

#include "feeders/clock/program/cost.h"
#include "feeders/clock/program/watch.h"
#include "program/command_line.h"
#include "tally/clock.h"

namespace {

enum Status { kGood = 0, kOff = 1, kUsage = tallyfs::kUsageStatus, kUnwritten = 3 };

constexpr const char* kDrivers = "auto, tsc, cntvct or monotonic";

struct Options {
  std::optional<std::string> driver;
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

std::string driver_in_use() {
  tally_clock_status status{};
  tally_clock_get_status(&status, sizeof status);
  return status.driver;
}

void say_no_driver(const std::string& whose, const std::string& name) {
  const bool is_known = name == "tsc" || name == "cntvct";
  std::fprintf(stderr, "tally-clock: %s: %s\n", whose.c_str(),
               is_known ? "not to be trusted on this machine"
                        : (std::string("no such driver; choose ") + kDrivers).c_str());
}

// The option is stronger than the environment, `off` included.
bool select(const std::string& name) {
  if (tally_clock_select(name.c_str()) != 0) {
    say_no_driver("driver " + (name.empty() ? "''" : name), name);
    return false;
  }
  tally_clock_set(TALLY_CLOCK_ON);
  return true;
}

// The library goes on with the best one.
void tell_of_environment() {
  const char* const told = ::secure_getenv("TALLY_CLOCK");
  const std::string name = told ? told : "";
  if (name.empty() || name == "auto" || name == driver_in_use()) return;
  say_no_driver("TALLY_CLOCK=" + name, name);
  std::printf("%-20s %s\n", "not_taken", name.c_str());
}

int run(const Options& options) {
  if (options.driver) {
    if (!select(*options.driver)) return kUsage;
  } else {
    tell_of_environment();
  }
  if (options.watch_seconds != 0 && driver_in_use() == "off") {
    std::fprintf(stderr, "tally-clock: TALLY_CLOCK=off: the clock is off, nothing to watch\n");
    return kUsage;
  }
  // The first two anchors, as far apart as a rate needs.
  sched_clock();
  ::usleep(100'000);
  tally_clock_upkeep();
  bool is_good = true;
  if (options.watch_seconds != 0) {
    is_good = tallyfs::watch(options.watch_seconds,
                             options.quiet ? tallyfs::Progress::kQuiet : tallyfs::Progress::kShown)
                  .is_good;
  }
  if (options.cost) (void)tallyfs::print_costs();
  print_status();
  return is_good ? kGood : kOff;
}

// A full disk, say; what a pipe's reader leaves unread ends us by SIGPIPE.
int written(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr, "tally-clock: standard output: %s\n", std::strerror(errno));
  return kUnwritten;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  tallyfs::CommandLine line("Measures the instrumentation clock on this machine.", "tally-clock",
                            TALLYFS_VERSION);
  line.add({.names = "--driver",
            .variable = &options.driver,
            .value = "NAME",
            .text = kDrivers,
            .shown = tallyfs::Option::Default::kHidden});
  line.add({.names = "--watch",
            .variable = &options.watch_seconds,
            .value = "TIME",
            .text = "compare it with the system's clocks for so long",
            .check = tallyfs::Time{1, 1'000'000, tallyfs::TimeUnit::kSeconds},
            .shown = tallyfs::Option::Default::kHidden});
  line.add_flag("--cost", options.cost, "measure what the calls cost");
  line.add_flag("-q,--quiet", options.quiet, "no progress");
  if (const auto status = line.parse(argc, argv)) {
    std::cout.flush();
    return written(*status);
  }
  return written(run(options));
}
