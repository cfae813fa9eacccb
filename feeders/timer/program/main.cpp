// tally-feed-timer: how late timers wake an ordinary process, CPU by CPU. Needs no privileges.
//
// The main thread collects ten times a second. It asks for SCHED_BATCH, so that a sleeper that is
// due on its CPU need not wait for it.
#include <poll.h>
#include <sched.h>

#include <chrono>

#include "feeders/timer/timer_feeder.h"
#include "program/feeder/program.h"
#include "program/feeder/stop_signal.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kCollectPeriod = 100ms;

struct Options : ProgramOptions {
  unsigned period_us = 1000;
};

void collect_until(const StopSignal& stop, TimerFeeder& feeder) {
  pollfd waited{.fd = stop.fd(), .events = POLLIN, .revents = 0};
  while (::poll(&waited, 1, static_cast<int>(kCollectPeriod.count())) <= 0) {
    feeder.collect();
  }
}

int run(const Options& options) {
  const auto stop = StopSignal::create();
  if (!stop) return log_failure(stop.error());
  const auto cpus = allowed_cpus();
  if (!cpus) return log_failure(cpus.error());
  if (auto done = set_up(options); !done) return log_failure(done.error());
  TimerFeeder feeder(cpus.value(), std::chrono::microseconds(options.period_us));
  // After the sleepers, which would inherit it.
  const sched_param priority{.sched_priority = 0};
  ::sched_setscheduler(0, SCHED_BATCH, &priority);

  say_ready();
  collect_until(stop.value(), feeder);
  feeder.collect();
  return 0;
}

int main(int argc, char** argv) {
  Options options{{.name = "tally-feed-timer"}};
  auto line = make_command_line("Feeds tallyfs with the lateness of timers on each CPU.", options);
  line.add({.names = "--period-us",
            .variable = &options.period_us,
            .value = "TIME",
            .text = "how long each sleep is",
            .check = Time{100, 1'000'000, TimeUnit::kMicroseconds}});
  if (const auto status = line.parse(argc, argv)) return *status;
  return run(options);
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) { return tallyfs::main(argc, argv); }
