#include "core/latency_hist/engine/timer_tracker.h"

#include <algorithm>

#include "core/base/near_time.h"

namespace tallyfs::latency_hist {
namespace {

// A timer that never expires is started for the end of time. Other clocks than CLOCK_MONOTONIC are
// not near now: differences of two such times fit into 64 bits all the same.
std::chrono::nanoseconds clock_of(const KernelEvent& event) {
  return std::chrono::nanoseconds(std::clamp(event.clock_ns, std::int64_t{0}, kEventTimeMaxNs));
}

}  // namespace

template <typename Map>
void TimerTracker::make_room(Map& map) {
  if (map.size() < kTimersMax) return;
  for (const auto& [key, each] : map) unmatched_[each.cpu] += 1;
  map.clear();
  seen_.clear();
}

bool TimerTracker::see(std::uint64_t timer) {
  if (seen_.size() == kTimersMax) seen_.clear();
  return !seen_.insert(timer).second;
}

void TimerTracker::started(const KernelEvent& event, const RunningTasks& running) {
  const Task* const task = running.on(event.cpu);
  const Task starter = task && task->pid == event.task.pid ? *task : event.task;
  is_awake(starter);
  (void)see(event.number);
  make_room(timers_);
  timers_.insert_or_assign(event.number, Timer{.expiry = clock_of(event),
                                               .sleeper = starter.pid,
                                               .cpu = event.cpu,
                                               .is_measured = is_measured(starter)});
}

void TimerTracker::expired(const KernelEvent& event, const RunningTasks& running) {
  const auto found = timers_.find(event.number);
  if (found == timers_.end()) {
    unmatched_[event.cpu] += see(event.number) ? 1 : 0;
    return;
  }
  const Timer timer = found->second;
  timers_.erase(found);
  Expiry expiry{.time = Nanoseconds(event.time_ns),
                .began = began(event),
                .offset = std::clamp(clock_of(event) - timer.expiry, -kNearMax, kNearMax),
                .cpu = event.cpu,
                .is_measured = timer.is_measured,
                .running = {},
                .priority = Task::kRealTimeEnd};
  if (const Task* const task = running.on(event.cpu)) {
    expiry.priority = task->priority;
    if (task->pid == event.task.pid) expiry.running = *task;
  }
  make_room(expiries_);
  expiries_.insert_or_assign(timer.sleeper, expiry);
}

// The event is written a little later than the clock was read. Other clocks than CLOCK_MONOTONIC
// are nowhere near it, and then that little is not known.
TimerTracker::Nanoseconds TimerTracker::began(const KernelEvent& event) {
  const Nanoseconds time(event.time_ns);
  const Nanoseconds since_read = time - clock_of(event);
  return since_read >= Nanoseconds(0) && since_read < kWakeupMax ? time - since_read : time;
}

TimerTracker::Woken TimerTracker::woken(const KernelEvent& event) {
  const auto found = expiries_.find(event.task.pid);
  if (found == expiries_.end()) return {};
  const Expiry expiry = found->second;
  expiries_.erase(found);
  if (Nanoseconds(event.time_ns) - expiry.time > kWakeupMax) {
    unmatched_[expiry.cpu] += is_measured(event.task) ? 1 : 0;
    return {};
  }
  Woken woken{.offset = std::max(expiry.offset, Nanoseconds(0)) + Nanoseconds(event.time_ns) -
                        expiry.began};
  if (!is_missed(expiry, event.task)) return woken;
  woken.missed = {.time = expiry.time,
                  .cpu = expiry.cpu,
                  .latency = expiry.offset,
                  .timer_offset = expiry.offset,
                  .victim = event.task,
                  .culprit = expiry.running};
  return woken;
}

void TimerTracker::switched(const KernelEvent& event) {
  is_awake(event.previous);
  is_awake(event.task);
}

void TimerTracker::is_awake(const Task& task) {
  const auto found = expiries_.find(task.pid);
  if (found == expiries_.end()) return;
  if (is_measured(task)) unmatched_[found->second.cpu] += 1;
  expiries_.erase(found);
}

void TimerTracker::expire(Nanoseconds now) {
  if (now - expired_at_ <= kWakeupMax) return;
  expired_at_ = now;
  boost::unordered::erase_if(expiries_, [&](const auto& each) {
    const Expiry& expiry = each.second;
    const bool is_over = now - expiry.time > kWakeupMax;
    if (is_over && expiry.is_measured) unmatched_[expiry.cpu] += 1;
    return is_over;
  });
}

bool TimerTracker::is_measured(const Task& sleeper) const {
  return selected_ != 0 ? sleeper.pid == selected_ : sleeper.is_real_time();
}

bool TimerTracker::is_missed(const Expiry& expiry, const Task& sleeper) const {
  if (expiry.offset <= Nanoseconds(0)) return false;
  if (selected_ != 0) return is_measured(sleeper);
  return is_measured(sleeper) && sleeper.priority < expiry.priority;
}

void TimerTracker::forget_all() {
  timers_.clear();
  expiries_.clear();
  seen_.clear();
}

}  // namespace tallyfs::latency_hist
