// From wakeups and switches to wakeup latencies (docs/latency-histograms.md, "Wakeup
// latency, exactly"). On each CPU one wakeup is pending at most: that of the task with the highest
// real-time priority.
//
//   woken     A task that is not real-time, or has a lower priority than the pending one or than
//             what runs there, is passed over. Any other is pending from then on; of equal priority
//             with one of them, its measurement is shared.
//   migrated  The pending record goes along, and meets the same conditions where it arrives.
//   switched  The pending task comes: that was it. Another of higher priority comes: nothing is
//             measured; of equal priority: the measurement is shared. The pending task goes: unless
//             it had not gone before it was woken, that it came was not seen, see `ran`.
//   ran       The pending task does something, so it came before, in a switch that the kernel has
//             not shown. The latency is no longer than until now, and is taken as that: bounded.
//
// With a selected pid that task is measured, whatever the priorities, and no other.
//
// Confined to its owner's lock. The caller passes only CPUs below the number given at construction.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "core/latency_hist/engine/record.h"
#include "core/latency_hist/engine/running_tasks.h"
#include "core/model/kernel_event.h"

namespace tallyfs::latency_hist {

enum class Sharing { kExclusive, kShared };

class WakeupTracker {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // A wakeup whose task has not been seen to run for so long is given up.
  static constexpr Nanoseconds kPendingMax = std::chrono::seconds(1);

  struct Measured {
    Record record;
    Sharing sharing;
    std::optional<Nanoseconds> timer_offset;  // as woken() was told
  };

  explicit WakeupTracker(unsigned cpus) : pending_(cpus), unmatched_(cpus) {}

  // 0: none. What is pending is forgotten.
  void select(pid_t pid);
  // timer_offset: how late the timer was that woke it, if it was one.
  void woken(const KernelEvent& event, const RunningTasks& running,
             std::optional<Nanoseconds> timer_offset);
  void migrated(const KernelEvent& event, const RunningTasks& running);
  std::optional<Measured> switched(const KernelEvent& event);
  // The task runs, and did so before an event that it caused itself.
  std::optional<Measured> ran(pid_t pid, Nanoseconds time);
  // Gives up what has been pending for too long.
  void expire(Nanoseconds now);
  // After a loss, or when measuring ends; the pending wakeups count as nothing.
  void forget_all();
  // How many wakeups of a CPU were given up, by what they would have been.
  struct Unmatched {
    std::uint64_t exclusive = 0;
    std::uint64_t shared = 0;
    std::uint64_t timed = 0;  // of the exclusive ones, those that a timer brought
  };
  // Since the last call for that CPU.
  Unmatched take_unmatched(unsigned cpu) { return std::exchange(unmatched_[cpu], {}); }

 private:
  struct Pending {
    Task task;
    Nanoseconds since{0};
    Sharing sharing = Sharing::kExclusive;
    // The task that ran there was not known: the next switch tells.
    bool is_blind = false;
    bool had_not_gone = false;  // it ran when it was woken
    std::optional<Nanoseconds> timer_offset;
  };

  void give_up(std::optional<Pending>& pending);
  void admit(unsigned cpu, Pending arrived, const Task* running);
  static Measured measure(const Pending& pending, const KernelEvent& event);
  std::optional<Measured> bound(std::optional<Pending>& pending, Nanoseconds time);
  // Whether the pending wakeup, of another task than that which comes, is not worth waiting for.
  bool is_beaten(Pending& pending, const Task& next) const;
  bool is_beaten_blind(Pending& pending, const Task& previous) const;

  pid_t selected_ = 0;
  std::vector<std::optional<Pending>> pending_;
  std::vector<Unmatched> unmatched_;  // by CPU
};

}  // namespace tallyfs::latency_hist
