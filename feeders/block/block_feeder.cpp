#include "feeders/block/block_feeder.h"

#include <utility>

namespace tallyfs {
namespace {

// Rounded up, so that `<=4` holds what took at most 4 us.
std::int64_t to_us(std::chrono::nanoseconds duration) {
  return std::chrono::ceil<std::chrono::microseconds>(duration).count();
}

std::chrono::steady_clock::time_point at(std::chrono::nanoseconds monotonic) {
  return std::chrono::steady_clock::time_point(monotonic);
}

std::uint64_t dropped_of(const Disk& disk) {
  std::uint64_t dropped = 0;
  for (const auto* statistics : {&disk.request_sizes, &disk.latencies, &disk.pending}) {
    for (const tally::Statistic& statistic : *statistics) dropped += statistic.dropped();
  }
  return dropped;
}

}  // namespace

void BlockFeeder::event(std::chrono::nanoseconds time, std::size_t, std::span<const char> payload) {
  const auto event = events_.decode(time, payload);
  if (!event) return;
  last_ = time;
  switch (event->kind) {
    case RequestEvent::Kind::kIssue:
      return issue(*event);
    case RequestEvent::Kind::kRequeue:
      return tracker_.requeue(*event);
    case RequestEvent::Kind::kComplete:
      return complete(*event);
  }
}

void BlockFeeder::issue(const RequestEvent& event) {
  const auto pending = tracker_.issue(event);
  // A full table has been filled by requests whose completion the kernel never showed us.
  if (!pending) return lost_anywhere(1);
  const auto direction = static_cast<std::size_t>(direction_of(event.operation));
  Disk* const disk = disks_.find(event.device, event.time);
  if (!disk || direction >= disk->pending.size()) return;
  disk->pending[direction].add_at(*pending, 1, at(event.time));
}

void BlockFeeder::complete(const RequestEvent& event) {
  const auto finished = tracker_.complete(event);
  const auto orphaned = tracker_.take_orphaned();
  if (!finished && orphaned == 0) return;
  Disk* const disk = disks_.find(event.device, event.time);
  if (!disk) return;
  disk->lost += orphaned;
  if (!finished) return;
  const auto direction = static_cast<std::size_t>(direction_of(event.operation));
  disk->request_sizes[direction].add_at(finished->bytes, 1, at(event.time));
  disk->latencies[direction].add_at(to_us(finished->latency), 1, at(event.time));
}

// Requests in flight count as lost, too: their ends may be among the lost events.
void BlockFeeder::lost_anywhere(std::uint64_t events) {
  events += tracker_.in_flight();
  tracker_.forget_all();
  disks_.for_each([&](Disk& disk) { disk.lost += events; });
}

void BlockFeeder::report_lost() {
  disks_.for_each([this](Disk& disk) {
    const std::uint64_t dropped = dropped_of(disk);
    disk.lost += dropped - std::exchange(disk.dropped, dropped);
    if (disk.lost == 0) return;
    const std::uint64_t before = disk.occurrence_lost.dropped();
    disk.occurrence_lost.add_at(1, disk.lost, at(last_));
    if (disk.occurrence_lost.dropped() == before) disk.lost = 0;
  });
}

}  // namespace tallyfs
