#include "feeders/kernel/event_shipper.h"

#include <utility>

namespace tallyfs {

void EventShipper::begin(std::vector<unsigned> cpus) {
  cpus_ = std::move(cpus);
  timers_.clear();
  woken_.forget_all();
  push_loss(KernelEvent::kNoCpu, 0);
}

void EventShipper::event(std::chrono::nanoseconds time, std::size_t cpu,
                         std::span<const char> payload) {
  const auto event = decoder_.decode(time, cpus_[cpu], payload);
  if (event && is_of_use(*event)) push(*event);
}

bool EventShipper::is_of_use(const KernelEvent& event) {
  switch (event.kind) {
    case KernelEventKind::kWakeup:
      (void)woken_.ran(event.previous.pid);
      woken_.woken(event.task.pid);
      return true;
    case KernelEventKind::kSwitch:
      woken_.switched(event.cpu, event.previous.pid, event.task.pid);
      return true;
    case KernelEventKind::kTaskRan:
      return woken_.ran(event.task.pid);
    case KernelEventKind::kTimerStart:
      (void)woken_.ran(event.task.pid);
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

void EventShipper::lost(std::size_t cpu, std::uint64_t events) {
  woken_.forget_woken();
  push_loss(cpus_[cpu], events);
}

void EventShipper::push_loss(std::uint32_t cpu, std::uint64_t events) {
  push({.time_ns = last_ns_, .kind = KernelEventKind::kLost, .cpu = cpu, .number = events});
}

void EventShipper::push(const KernelEvent& event) {
  last_ns_ = event.time_ns;
  batch_.push_back(event);
  if (batch_.size() == kBatchMax) flush();
}

void EventShipper::flush() {
  if (batch_.empty()) return;
  put_dropped();
  datagram_.clear(0);
  datagram_.kernel_events(batch_);
  if (!send()) note_dropped();
  batch_.clear();
}

void EventShipper::put_dropped() {
  for (const auto& [cpu, events] : dropped_) {
    const KernelEvent gap{.time_ns = batch_.front().time_ns,
                          .kind = KernelEventKind::kLost,
                          .cpu = cpu,
                          .number = events};
    batch_.insert(batch_.begin(), gap);
  }
  dropped_.clear();
}

// A notice stands for the events that it counts.
void EventShipper::note_dropped() {
  for (const KernelEvent& each : batch_) {
    const std::uint64_t events = each.kind == KernelEventKind::kLost ? each.number : 1;
    if (events == 0) continue;
    const bool has_place = dropped_.size() < kDroppedCpusMax || dropped_.contains(each.cpu);
    dropped_[has_place ? each.cpu : KernelEvent::kNoCpu] += events;
  }
}

bool EventShipper::send() {
  if (!link_.connected() && !link_.connect()) return false;
  if (link_.send(datagram_.bytes()) == Link::Sent::kDone) return true;
  link_.wait_for_room(kWaitMax);
  return link_.send(datagram_.bytes()) == Link::Sent::kDone;
}

}  // namespace tallyfs
