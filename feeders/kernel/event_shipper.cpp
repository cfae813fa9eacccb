#include "feeders/kernel/event_shipper.h"

#include <utility>

namespace tallyfs {

void EventShipper::begin(std::vector<unsigned> cpus) {
  cpus_ = std::move(cpus);
  timers_.clear();
  lost(0);
}

void EventShipper::event(std::chrono::nanoseconds time, std::size_t cpu,
                         std::span<const char> payload) {
  const auto event = decoder_.decode(time, cpus_[cpu], payload);
  if (event && is_of_use(*event)) push(*event);
}

bool EventShipper::is_of_use(const KernelEvent& event) {
  switch (event.kind) {
    case KernelEventKind::kTimerStart:
      if (timers_.size() == kTimersMax) timers_.clear();
      timers_.insert(event.number);
      return true;
    case KernelEventKind::kTimerExpire:
      timers_.erase(event.number);
      return true;
    case KernelEventKind::kTimerCancel:
      return timers_.erase(event.number) == 1;
    default:
      return true;
  }
}

void EventShipper::lost(std::uint64_t events) {
  push({.time_ns = last_ns_, .kind = KernelEventKind::kLost, .number = events});
}

void EventShipper::push(const KernelEvent& event) {
  last_ns_ = event.time_ns;
  batch_.push_back(event);
  if (batch_.size() == kBatchMax) flush();
}

void EventShipper::flush() {
  if (batch_.empty()) return;
  if (dropped_ != 0) {
    const KernelEvent gap{
        .time_ns = batch_.front().time_ns, .kind = KernelEventKind::kLost, .number = dropped_};
    batch_.insert(batch_.begin(), gap);
  }
  datagram_.clear(0);
  datagram_.kernel_events(batch_);
  dropped_ = send() ? 0 : events_in_batch();
  batch_.clear();
}

// A notice stands for the events that it counts.
std::uint64_t EventShipper::events_in_batch() const {
  std::uint64_t events = 0;
  for (const KernelEvent& each : batch_) {
    events += each.kind == KernelEventKind::kLost ? each.number : 1;
  }
  return events;
}

bool EventShipper::send() {
  if (!link_.connected() && !link_.connect()) return false;
  if (link_.send(datagram_.bytes()) == Link::Sent::kDone) return true;
  link_.wait_for_room(kWaitMax);
  return link_.send(datagram_.bytes()) == Link::Sent::kDone;
}

}  // namespace tallyfs
