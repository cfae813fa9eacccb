#include "core/latency_hist/engine/wakeup_tracker.h"

#include <utility>

namespace tallyfs::latency_hist {

void WakeupTracker::select(pid_t pid) {
  selected_ = pid;
  forget_all();
}

void WakeupTracker::forget_all() { pending_.assign(pending_.size(), std::nullopt); }

void WakeupTracker::woken(const KernelEvent& event, const RunningTasks& running,
                          std::optional<Nanoseconds> timer_offset) {
  const bool is_measured = selected_ != 0 ? event.task.pid == selected_ : event.task.is_real_time();
  if (!is_measured) return;
  // It sleeps on one CPU only: an older wakeup of it, wherever, has missed its switch.
  for (auto& pending : pending_) {
    if (pending && pending->task.pid == event.task.pid) give_up(pending);
  }
  admit(event.cpu,
        {.task = event.task, .since = Nanoseconds(event.time_ns), .timer_offset = timer_offset},
        running.on(event.cpu));
}

void WakeupTracker::migrated(const KernelEvent& event, const RunningTasks& running) {
  auto& from = pending_[event.cpu];
  if (!from || from->task.pid != event.task.pid) return;
  Pending moved = std::move(*from);
  from.reset();
  admit(event.destination, std::move(moved), running.on(event.destination));
}

void WakeupTracker::give_up(std::optional<Pending>& pending) {
  const bool is_shared = pending->sharing == Sharing::kShared;
  Unmatched& unmatched = unmatched_[static_cast<std::size_t>(&pending - pending_.data())];
  (is_shared ? unmatched.shared : unmatched.exclusive) += 1;
  if (!is_shared && pending->timer_offset) unmatched.timed += 1;
  pending.reset();
}

void WakeupTracker::admit(unsigned cpu, Pending arrived, const Task* running) {
  auto& pending = pending_[cpu];
  // It cannot be in its own way; that it went has not been seen, or it is awake after all.
  arrived.had_not_gone = running && running->pid == arrived.task.pid;
  if (arrived.had_not_gone) running = nullptr;
  if (selected_ == 0) {
    if (pending && pending->task.outranks(arrived.task)) return;
    if (running && running->outranks(arrived.task)) return;
    const auto equals = [&](const Task& other) { return other.priority == arrived.task.priority; };
    if ((pending && equals(pending->task)) || (running && equals(*running))) {
      arrived.sharing = Sharing::kShared;
    }
    arrived.is_blind = !running;
  }
  pending = std::move(arrived);
}

std::optional<WakeupTracker::Measured> WakeupTracker::switched(const KernelEvent& event) {
  auto& pending = pending_[event.cpu];
  if (!pending) return std::nullopt;
  if (event.previous.pid == pending->task.pid) {
    const auto measured = bound(pending, Nanoseconds(event.time_ns));
    pending.reset();
    return measured;
  }
  if (is_beaten_blind(*pending, event.previous)) {
    pending.reset();
    return std::nullopt;
  }
  if (event.task.pid != pending->task.pid) {
    if (is_beaten(*pending, event.task)) pending.reset();
    return std::nullopt;
  }
  if (Nanoseconds(event.time_ns) - pending->since >= kPendingMax) {
    give_up(pending);
    return std::nullopt;
  }
  const Pending done = *std::exchange(pending, std::nullopt);
  return measure(done, event);
}

std::optional<WakeupTracker::Measured> WakeupTracker::ran(pid_t pid, Nanoseconds time) {
  for (auto& pending : pending_) {
    if (pending && pending->task.pid == pid) return bound(pending, time);
  }
  return std::nullopt;
}

// A task that had not gone runs on, which says nothing of its coming back. Where nothing was known
// of what ran there, another task may have had to go first.
std::optional<WakeupTracker::Measured> WakeupTracker::bound(std::optional<Pending>& pending,
                                                            Nanoseconds time) {
  if (pending->had_not_gone) return std::nullopt;
  if (pending->is_blind || time - pending->since >= kPendingMax) {
    give_up(pending);
    return std::nullopt;
  }
  const auto cpu = static_cast<unsigned>(&pending - pending_.data());
  const Pending done = *std::exchange(pending, std::nullopt);
  KernelEvent event{.time_ns = time.count(), .cpu = cpu, .task = done.task};
  Measured measured = measure(done, event);
  measured.record.culprit.reset();
  measured.record.is_bound = true;
  return measured;
}

bool WakeupTracker::is_beaten(Pending& pending, const Task& next) const {
  if (selected_ != 0) return false;
  if (next.priority == pending.task.priority) pending.sharing = Sharing::kShared;
  return next.outranks(pending.task);
}

bool WakeupTracker::is_beaten_blind(Pending& pending, const Task& previous) const {
  return std::exchange(pending.is_blind, false) && is_beaten(pending, previous);
}

WakeupTracker::Measured WakeupTracker::measure(const Pending& pending, const KernelEvent& event) {
  return {.record = {.time = Nanoseconds(event.time_ns),
                     .cpu = event.cpu,
                     .latency = Nanoseconds(event.time_ns) - pending.since,
                     .timer_offset = pending.timer_offset.value_or(Nanoseconds(0)),
                     .victim = event.task,
                     .culprit = event.previous},
          .sharing = pending.sharing,
          .timer_offset = pending.timer_offset};
}

void WakeupTracker::expire(Nanoseconds now) {
  for (auto& pending : pending_) {
    if (pending && now - pending->since >= kPendingMax) give_up(pending);
  }
}

}  // namespace tallyfs::latency_hist
