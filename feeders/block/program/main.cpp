// tally-feed-block: what the disks do, from the kernel's block trace events. One thread.
//
// It sleeps until the first event, then lets a poll period's worth of them gather: an idle machine
// is woken once a second, a busy one once in a period, whatever the number of events.
#include <poll.h>

#include <chrono>
#include <string>
#include <vector>

#include "feeders/block/block_feeder.h"
#include "feeders/clock/program_clock.h"
#include "feeders/tracefs/instance.h"
#include "feeders/tracefs/merged_reader.h"
#include "program/feeder/program.h"
#include "program/feeder/stop_signal.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

// Counts of what was lost, which no event announces, wait at most this long.
constexpr std::chrono::milliseconds kIdlePeriod = 1s;

const TracefsInstance::Event kIssue{"block", "block_rq_issue"};
const TracefsInstance::Event kRequeue{"block", "block_rq_requeue"};
const TracefsInstance::Event kComplete{"block", "block_rq_complete"};

struct Options : ProgramOptions {
  unsigned poll_ms = 10;
};

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

void feed(Wakener& wakener, MergedReader& reader, BlockFeeder& feeder,
          std::chrono::milliseconds period) {
  while (!wakener.stopped()) {
    const auto left = reader.poll(feeder);
    feeder.report_lost();
    if (left == MergedReader::Remaining::kMore) {
      wakener.sleep(0ms);
    } else if (left == MergedReader::Remaining::kHeldBack) {
      wakener.sleep(period);
    } else {
      wakener.wait_for_events(kIdlePeriod);
      wakener.sleep(period);
    }
  }
}

int run(const Options& options) {
  const auto stop = StopSignal::create();
  if (!stop) return log_failure(stop.error());
  if (auto done = set_up(options); !done) return log_failure(done.error());
  auto instance =
      TracefsInstance::create({.name = "block", .events = {kIssue, kRequeue, kComplete}});
  if (!instance) return log_failure(instance.error());
  auto events = decoder_for(instance.value());
  if (!events) return log_failure(events.error());

  const ProgramClock clock;
  BlockFeeder feeder(std::move(events.value()));
  const auto fds = fds_of(instance.value());
  MergedReader reader(instance.value().page_format(), fds, clock,
                      [&](std::size_t pipe) { return instance.value().losses(pipe); });
  Wakener wakener(stop.value(), fds);

  if (auto done = instance.value().start(); !done) return log_failure(done.error());
  say_ready();
  feed(wakener, reader, feeder, std::chrono::milliseconds(options.poll_ms));

  if (auto done = instance.value().stop(); !done) return log_failure(done.error());
  reader.finish(feeder);
  feeder.report_lost();
  return 0;
}

int main(int argc, char** argv) {
  Options options{{.name = "tally-feed-block"}};
  auto line = make_command_line(
      "Feeds tallyfs with the sizes, latencies and numbers of block requests.", options);
  add_poll_option(line, options.poll_ms);
  if (const auto status = line.parse(argc, argv)) return *status;
  return run(options);
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) { return tallyfs::main(argc, argv); }
