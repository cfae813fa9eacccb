// tally-feed-block: what the disks do, from the kernel's block trace events. One thread.
//
// It sleeps until the first event, then lets a poll period's worth of them gather: an idle machine
// is woken once a second, a busy one once in a period, whatever the number of events.
#include <poll.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "feeders/block/block_feeder.h"
#include "feeders/client/sender.h"
#include "feeders/client/socket_path.h"
#include "feeders/client/stop_signal.h"
#include "feeders/tracefs/instance.h"
#include "feeders/tracefs/merged_reader.h"

namespace tally {
namespace {

using namespace std::chrono_literals;

// For the sake of the daemon: one that was restarted is found again within this.
constexpr std::chrono::milliseconds kIdlePeriod = 1s;
// While samples wait for a daemon.
constexpr std::chrono::milliseconds kWaitingPeriod = 100ms;

const TracefsInstance::Event kIssue{"block", "block_rq_issue"};
const TracefsInstance::Event kRequeue{"block", "block_rq_requeue"};
const TracefsInstance::Event kComplete{"block", "block_rq_complete"};

struct Options {
  std::string socket;
  std::string log_level = "info";
  unsigned poll_ms = 10;
};

int fail(const Error& error) {
  spdlog::error("{}", error.reason);
  return 1;
}

Result<BlockEvents> decoder_for(const TracefsInstance& instance) {
  const auto issue = instance.format(kIssue);
  const auto requeue = instance.format(kRequeue);
  const auto complete = instance.format(kComplete);
  if (!issue) return issue.error();
  if (!requeue) return requeue.error();
  if (!complete) return complete.error();
  return BlockEvents::create(issue.value(), requeue.value(), complete.value());
}

std::vector<int> fds_of(const TracefsInstance& instance) {
  std::vector<int> fds;
  for (const Fd& pipe : instance.pipes()) fds.push_back(pipe.get());
  return fds;
}

// The pipes, and the signal that ends it all.
class Wakener {
 public:
  Wakener(const StopSignal& stop, const std::vector<int>& pipes) {
    waited_.push_back({.fd = stop.fd(), .events = POLLIN, .revents = 0});
    for (const int fd : pipes) waited_.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  }

  void wait_for_events(std::chrono::milliseconds at_most) { wait(waited_.size(), at_most); }
  void sleep(std::chrono::milliseconds period) { wait(1, period); }
  bool stopped() const { return waited_.front().revents != 0; }

 private:
  void wait(std::size_t count, std::chrono::milliseconds at_most) {
    if (!stopped()) ::poll(waited_.data(), count, static_cast<int>(at_most.count()));
  }
  std::vector<pollfd> waited_;
};

void feed(Wakener& wakener, MergedReader& reader, BlockFeeder& feeder, Sender& sender,
          std::chrono::milliseconds period) {
  while (!wakener.stopped()) {
    const auto left = reader.poll(feeder);
    feeder.report_lost();
    sender.flush();
    if (left == MergedReader::Left::kMore) {
      wakener.sleep(0ms);
    } else if (left == MergedReader::Left::kHeldBack) {
      wakener.sleep(period);
    } else {
      wakener.wait_for_events(sender.holds() ? kWaitingPeriod : kIdlePeriod);
      wakener.sleep(period);
    }
  }
}

int run(const Options& options) {
  const auto stop = StopSignal::create();
  if (!stop) return fail(stop.error());
  auto instance =
      TracefsInstance::create({.name = "block", .events = {kIssue, kRequeue, kComplete}});
  if (!instance) return fail(instance.error());
  auto events = decoder_for(instance.value());
  if (!events) return fail(events.error());

  const SystemClock clock;
  Sender sender({.path = find_socket_path(options.socket),
                 .report = [](const std::string& what) { spdlog::info("{}", what); }},
                clock);
  BlockFeeder feeder(std::move(events.value()), sender);
  const auto fds = fds_of(instance.value());
  MergedReader reader(instance.value().page_format(), fds, clock);
  Wakener wakener(stop.value(), fds);

  if (auto done = instance.value().start(); !done) return fail(done.error());
  std::puts("READY");
  std::fflush(stdout);
  feed(wakener, reader, feeder, sender, std::chrono::milliseconds(options.poll_ms));

  if (auto done = instance.value().stop(); !done) return fail(done.error());
  reader.finish(feeder);
  feeder.report_lost();
  sender.finish();
  return 0;
}

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Feeds tallyfs with the sizes, latencies and numbers of block requests.");
  app.set_version_flag("--version", "tally-feed-block " TALLYFS_VERSION);
  app.add_option("--socket", options.socket,
                 "The daemon's socket (else $TALLY_SOCKET, else its default)");
  app.add_option("--poll-ms", options.poll_ms, "How long events gather before they are read")
      ->capture_default_str()
      ->check(CLI::Range(1u, 1000u));
  app.add_option("--log-level", options.log_level, "What is told on stderr")
      ->capture_default_str()
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "err", "off"}));
  CLI11_PARSE(app, argc, argv);
  spdlog::set_default_logger(spdlog::stderr_logger_mt("tally-feed-block"));
  spdlog::set_level(spdlog::level::from_str(options.log_level));
  return run(options);
}

}  // namespace
}  // namespace tally

int main(int argc, char** argv) { return tally::main(argc, argv); }
