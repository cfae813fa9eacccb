// From hrtimers to missed timer offsets (docs/latency-histograms.md): how much later than asked the
// timers expire that wake sleepers. A timer's start gives the time at which it shall expire and the
// sleeper. Its expiry tells how late it is, and the wakeup that follows gives the sleeper's present
// name and priority.
//
// An expiry is unmatched if its start was not seen though an earlier life of that timer was, or if
// it brought a task that could have been measured no wakeup that was seen: within kWakeupMax, and
// before that task starts another timer, goes or comes. The first expiry of an unknown timer
// belongs to one that was armed before tracing began, or in a gap: it counts as nothing. Wakeups of
// sleepers that are not real-time are not reported, and their expiries are forgotten.
//
// Confined to its owner's lock. Holds kTimersMax timers and as many expiries; beyond that it
// forgets them all and counts them as unmatched. It remembers as many addresses of timers that it
// has seen; with one more, they are all new to it again.
#pragma once

#include <sys/types.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/latency_hist/engine/record.h"
#include "core/latency_hist/engine/running_tasks.h"
#include "core/model/kernel_event.h"

namespace tallyfs::latency_hist {

class TimerTracker {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  static constexpr std::size_t kTimersMax = 16'384;
  // The wakeup comes within the expiry, microseconds later.
  static constexpr Nanoseconds kWakeupMax = std::chrono::milliseconds(100);

  struct Woken {
    // How much later than asked the wakeup comes, to be added to its latency: the timer's offset,
    // and the time from there to the wakeup. That takes microseconds, which a measurement from
    // outside includes.
    std::optional<Nanoseconds> offset;
    // The record of a late timer whose sleeper is the selected task, or a real-time task of a
    // higher priority than the task that ran when the timer expired.
    std::optional<Record> missed;
  };

  explicit TimerTracker(unsigned cpus) : unmatched_(cpus) {}

  // 0: none.
  void select(pid_t pid) { selected_ = pid; }
  void started(const KernelEvent& event, const RunningTasks& running);
  void expired(const KernelEvent& event, const RunningTasks& running);
  void cancelled(const KernelEvent& event) { timers_.erase(event.number); }
  // Says whether the woken task was asleep on a timer.
  Woken woken(const KernelEvent& event);
  // Both tasks of a switch are awake: no timer will wake them that has expired.
  void switched(const KernelEvent& event);
  // Forgets expiries whose wakeup can no longer come.
  void expire(Nanoseconds now);
  void forget_all();
  // How many timers of this CPU had no match since the last call. A timer counts for the CPU where
  // it expired, or else was started.
  std::uint64_t take_unmatched(unsigned cpu) { return std::exchange(unmatched_[cpu], 0); }

 private:
  struct Timer {
    Nanoseconds expiry;
    pid_t sleeper;
    unsigned cpu;
    bool is_measured;  // as far as is known
  };
  struct Expiry {
    Nanoseconds time;    // of the event
    Nanoseconds began;   // when the timer's lateness ended, on the clock of the events
    Nanoseconds offset;  // at most kNearMax, either way
    unsigned cpu;
    bool is_measured;             // its sleeper, as far as was known when the timer was started
    std::optional<Task> running;  // if it is known which task that was
    // A lower bound of the running task's urgency; Task::kRealTimeEnd: no real-time task.
    std::int32_t priority;
  };

  template <typename Map>
  void make_room(Map& map);
  // Whether it has been before.
  bool see(std::uint64_t timer);
  static Nanoseconds began(const KernelEvent& event);
  bool is_measured(const Task& sleeper) const;
  bool is_missed(const Expiry& expiry, const Task& sleeper) const;
  void is_awake(const Task& task);

  pid_t selected_ = 0;
  Nanoseconds expired_at_{0};                               // the last expire() that looked
  boost::unordered_flat_map<std::uint64_t, Timer> timers_;  // by address
  boost::unordered_flat_map<pid_t, Expiry> expiries_;       // by sleeper
  boost::unordered_flat_set<std::uint64_t> seen_;           // addresses of timers
  std::vector<std::uint64_t> unmatched_;                    // by CPU
};

}  // namespace tallyfs::latency_hist
