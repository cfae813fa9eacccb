// From hrtimers to missed timer offsets (docs/latency-histograms.md): how much later than asked the
// timers expire that wake sleepers. A timer's start says when it shall expire and who sleeps; its
// expiry, how late that is; and the wakeup that it brings, who the sleeper is by now.
//
// An expiry is unmatched if its start was not seen though an earlier life of that timer was, or if
// it brought a task that could have been measured no wakeup that was seen: within kWakeupMax, and
// before that task starts another timer, goes or comes. The first expiry of a timer of which
// nothing was seen is of one that was armed before anybody looked, or in a gap: it counts as
// nothing. Of sleepers that are not real-time no wakeup is told, and theirs are forgotten.
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

#include "core/latency/latency_record.h"
#include "core/latency/running_tasks.h"
#include "core/model/kernel_event.h"

namespace tallyfs {

class TimerTracker {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  static constexpr std::size_t kTimersMax = 16'384;
  // The wakeup comes within the expiry, microseconds later.
  static constexpr Nanoseconds kWakeupMax = std::chrono::milliseconds(100);

  struct Woken {
    // How much later than asked the wakeup comes, to be added to its latency: the timer's offset,
    // and what it took from there. That way is microseconds long, and whoever measures from outside
    // sees it.
    std::optional<Nanoseconds> offset;
    // What is to be recorded: it was late, and its sleeper is a real-time task of a higher priority
    // than what ran when it expired, or the selected one.
    std::optional<LatencyRecord> missed;
  };

  // 0: none.
  void select(pid_t pid) { selected_ = pid; }
  void started(const KernelEvent& event, const RunningTasks& running);
  void expired(const KernelEvent& event, const RunningTasks& running);
  void cancelled(const KernelEvent& event) { timers_.erase(event.number); }
  // The task of a wakeup was asleep on a timer, or not.
  Woken woken(const KernelEvent& event);
  // Both tasks of a switch are awake: no timer will wake them that has expired.
  void switched(const KernelEvent& event);
  // Gives up expiries whose wakeup will not come any more.
  void expire(Nanoseconds now);
  void forget_all();
  std::uint64_t take_unmatched() { return std::exchange(unmatched_, 0); }

 private:
  struct Timer {
    Nanoseconds expiry;
    pid_t sleeper;
    bool is_measured;  // as far as is known
  };
  struct Expiry {
    Nanoseconds time;   // of the event
    Nanoseconds began;  // when the timer's lateness ended, on the clock of the events
    Nanoseconds offset;
    unsigned cpu;
    bool is_measured;             // its sleeper, as far as was known when the timer was started
    std::optional<Task> running;  // if it is known which task that was
    // At least as urgent as this was what ran; Task::kRealTimeEnd: no real-time task.
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
  std::uint64_t unmatched_ = 0;
};

}  // namespace tallyfs
