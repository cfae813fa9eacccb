#include "feeders/block/block_feeder.h"

namespace tally {
namespace {

// Rounded up, so that `<=4` holds what took at most 4 us.
std::int64_t to_us(std::chrono::nanoseconds duration) {
  return std::chrono::ceil<std::chrono::microseconds>(duration).count();
}

}  // namespace

void BlockFeeder::event(std::chrono::nanoseconds time, std::span<const char> payload) {
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
  if (!pending) return lost(1);
  const auto direction = static_cast<std::size_t>(direction_of(event.operation));
  Disk* const disk = disks_.find(event.device, event.time);
  if (!disk || direction >= disk->pending.size()) return;
  sender_.add(disk->pending[direction], {.x = *pending, .time = event.time});
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
  sender_.add(disk->request_sizes[direction], {.x = finished->bytes, .time = event.time});
  sender_.add(disk->latencies[direction], {.x = to_us(finished->latency), .time = event.time});
}

// What was in flight will not be seen to end: as good as lost, too.
void BlockFeeder::lost(std::uint64_t events) {
  events += tracker_.in_flight();
  tracker_.forget_all();
  disks_.for_each([&](Disk& disk) { disk.lost += events; });
}

void BlockFeeder::report_lost() {
  disks_.for_each([this](Disk& disk) {
    disk.lost += take_dropped(disk);
    if (disk.lost == 0 || sender_.full()) return;
    sender_.add(disk.occurrence_lost, {.x = 1, .y = disk.lost, .time = last_});
    disk.lost = 0;
  });
}

std::uint64_t BlockFeeder::take_dropped(const Disk& disk) {
  std::uint64_t dropped = 0;
  for (const auto handle : disk.request_sizes) dropped += sender_.take_dropped(handle);
  for (const auto handle : disk.latencies) dropped += sender_.take_dropped(handle);
  for (const auto handle : disk.pending) dropped += sender_.take_dropped(handle);
  return dropped;
}

}  // namespace tally
