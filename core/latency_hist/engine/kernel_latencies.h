// tracing/latency_hist without its names: the kernel's events go in, in the order of their times,
// and latencies come out into the set of each directory, as far as it is enabled.
//
// Confined to its owner's lock. Nothing here looks at the wall clock: a story of events can be
// replayed (tests/unit/latency_hist_engine).
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/latency_hist/engine/running_tasks.h"
#include "core/latency_hist/engine/section_tracker.h"
#include "core/latency_hist/engine/set.h"
#include "core/latency_hist/engine/timer_tracker.h"
#include "core/latency_hist/engine/wakeup_tracker.h"
#include "core/model/kernel_event.h"

namespace tallyfs::latency_hist {

// The directories with histograms.
enum class Latencies {
  kIrqsOff,
  kPreemptOff,
  kPreemptIrqsOff,
  kWakeup,
  kWakeupShared,
  kMissedTimerOffsets,
  kTimerAndWakeup,
};
inline constexpr std::size_t kLatencies = 7;

// The measurements that the files of enable/ switch.
enum class Measuring { kSections, kWakeup, kMissedTimerOffsets, kTimerAndWakeup };
inline constexpr std::size_t kMeasurings = 4;

// The switch of a directory.
Measuring measuring_of(Latencies which);

class KernelLatencies {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // cpus: how many this machine could have.
  KernelLatencies(unsigned cpus, Timestamp now);

  // In the order of their times, each no later than now. An event with a CPU, a kind or a time that
  // cannot be counts as lost; a time more than kNearMax from now is taken as that.
  void take(std::span<const KernelEvent> events, Timestamp now);
  // Time passes without events: measurements that wait in vain are given up.
  void pass(Timestamp now);

  // 0 is off. kInvalid: timerandwakeup needs wakeup and missed_timer_offsets, and goes off with
  // either. Gathered latencies stay.
  Result<void> enable(Measuring what, std::int64_t value);
  // The value written last.
  std::int64_t enabled(Measuring what) const { return enabled_[static_cast<std::size_t>(what)]; }
  bool is_on(Measuring what) const { return enabled(what) != 0; }

  // 0: no task is selected. what: kWakeup, kMissedTimerOffsets.
  void select(Measuring what, pid_t pid);
  pid_t selected(Measuring what) const { return selected_[static_cast<std::size_t>(what)]; }

  // The next warning for the log, each of them once: that a histogram lacks latencies, or that the
  // kernel leaves out switches. Empty: there is none.
  std::string take_warning();

  Set& set(Latencies which) { return sets_[static_cast<std::size_t>(which)]; }
  const Set& set(Latencies which) const { return sets_[static_cast<std::size_t>(which)]; }

 private:
  void take(const KernelEvent& event);
  bool makes_sense(const KernelEvent& event) const;
  void take_wakeup(const KernelEvent& event);
  // The task runs, as an event shows that it caused itself.
  void take_sign(pid_t pid, const KernelEvent& event);
  void take_switch(const KernelEvent& event);
  void take_section(const KernelEvent& event);
  void record(const WakeupTracker::Measured& measured);
  std::string warning_of(std::size_t set, unsigned cpu);
  void give_up(Nanoseconds time);
  void lose(std::uint64_t events, unsigned cpu);
  void forget_all();
  bool uses_timers() const { return is_on(Measuring::kMissedTimerOffsets); }

  const unsigned cpus_;
  Timestamp now_;
  std::vector<Set> sets_;  // by Latencies
  std::array<std::int64_t, kMeasurings> enabled_{};
  std::array<pid_t, kMeasurings> selected_{};
  RunningTasks running_;
  WakeupTracker wakeups_;
  TimerTracker timers_;
  std::vector<SectionTracker> sections_;  // by CPU
  std::array<bool, kLatencies> is_warned_{};
  bool is_warned_of_bounds_ = false;
};

}  // namespace tallyfs::latency_hist
