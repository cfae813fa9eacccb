// tally-feed-tcp: this machine's TCP connections as blobs of stats/tcp. Needs no privileges.
//
// One thread, which asks the kernel for its connections once per period.
#include <poll.h>
#include <chrono>

#include "feeders/tcp/tcp_connections.h"
#include "feeders/tcp/tcp_feeder.h"
#include "feeders/tcp/tcp_rates.h"
#include "program/feeder/program.h"
#include "program/feeder/stop_signal.h"

namespace tallyfs {
namespace {

constexpr int kUsage = 2;

struct Options : ProgramOptions {
  int period_ms = 1000;
  std::uint64_t objects_max = 1000;
  std::string rates = "TCP_DEFAULT=100";
};

// say_ready() is called once a first look has been had.
Result<void> sample_until(const StopSignal& stop, TcpFeeder& feeder, int period_ms) {
  pollfd waited{.fd = stop.fd(), .events = POLLIN, .revents = 0};
  TcpConnections connections;
  TcpConnections::Scan scan;
  if (auto done = connections.scan(scan); !done) return done;
  say_ready();
  for (;;) {
    feeder.take(scan);
    if (::poll(&waited, 1, period_ms) > 0) return {};
    if (auto done = connections.scan(scan); !done) return done;
  }
}

int run(const Options& options) {
  const auto stop = StopSignal::create();
  if (!stop) return log_failure(stop.error());
  if (auto done = set_up(options); !done) return log_failure(done.error());
  const auto template_id = TcpBlob::make_template();
  if (!template_id) return log_failure(template_id.error());
  if (auto done = tcp_rates::follow(TcpFeeder::kSubsystem, options.rates); !done) {
    (void)log_failure(done.error());
    return kUsage;
  }
  auto feeder = TcpFeeder::create(template_id.value(), options.objects_max);
  if (!feeder) return log_failure(feeder.error());
  const auto done = sample_until(stop.value(), feeder.value(), options.period_ms);
  return done ? 0 : log_failure(done.error());
}

int main(int argc, char** argv) {
  Options options{{.name = "tally-feed-tcp"}};
  auto line = make_command_line("Feeds tallyfs with this machine's TCP connections, as stats/tcp.",
                                options);
  line.add({.names = "--period-ms",
            .variable = &options.period_ms,
            .value = "TIME",
            .text = "how often the kernel is asked",
            .check = Time{10, 60'000, TimeUnit::kMilliseconds}});
  line.add({.names = "--rates",
            .variable = &options.rates,
            .value = "RATES",
            .text = "the sample rates that hold until a user writes others"});
  line.add({.names = "--objects-max",
            .variable = &options.objects_max,
            .value = "N",
            .text = "at most so many connections have an object",
            .check = InRange{0, 60'000},
            .bounds = "0 to 60000"});
  if (const auto status = line.parse(argc, argv)) return *status;
  return run(options);
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) { return tallyfs::main(argc, argv); }
