#include "core/latency_hist/engine/kernel_latencies.h"

#include <algorithm>

#include "core/base/near_time.h"

namespace tallyfs::latency_hist {
namespace {

// The log has no warning of fewer latencies: the first ones of a measurement may be incomplete.
constexpr std::uint64_t kWarnedFrom = 100;

constexpr std::array<Kind, kLatencies> kKinds = {
    Kind::kSections, Kind::kSections, Kind::kSections,        Kind::kWakeups,
    Kind::kWakeups,  Kind::kTimers,   Kind::kTimersAndWakeups};
constexpr std::array<std::string_view, kLatencies> kNames = {
    "irqsoff",           "preemptoff",           "preemptirqsoff", "wakeup",
    "wakeup/sharedprio", "missed_timer_offsets", "timerandwakeup"};

// Lost events count as losses of a set while this measurement is on.
constexpr std::array<Measuring, kLatencies> kMeasuredBy = {
    Measuring::kSections,      Measuring::kSections, Measuring::kSections,
    Measuring::kWakeup,        Measuring::kWakeup,   Measuring::kMissedTimerOffsets,
    Measuring::kTimerAndWakeup};
constexpr std::array<Latencies, kSectionKinds> kSetOfSection = {
    Latencies::kIrqsOff, Latencies::kPreemptOff, Latencies::kPreemptIrqsOff};

}  // namespace

Measuring measuring_of(Latencies which) {
  switch (which) {
    case Latencies::kIrqsOff:
    case Latencies::kPreemptOff:
    case Latencies::kPreemptIrqsOff:
      return Measuring::kSections;
    case Latencies::kWakeup:
    case Latencies::kWakeupShared:
      return Measuring::kWakeup;
    case Latencies::kMissedTimerOffsets:
      return Measuring::kMissedTimerOffsets;
    case Latencies::kTimerAndWakeup:
      return Measuring::kTimerAndWakeup;
  }
  return Measuring::kSections;
}

KernelLatencies::KernelLatencies(unsigned cpus, Timestamp now)
    : cpus_(cpus), now_(now), running_(cpus), wakeups_(cpus), timers_(cpus), sections_(cpus) {
  for (const Kind kind : kKinds) sets_.emplace_back(cpus, now, kind);
}

void KernelLatencies::take(std::span<const KernelEvent> events, Timestamp now) {
  now_ = now;
  Nanoseconds last = now.monotonic;
  for (const KernelEvent& each : events) {
    if (!makes_sense(each)) {
      lose(1, Set::kNoCpu);
      continue;
    }
    KernelEvent event = each;
    last = clamped_near(Nanoseconds(each.time_ns), now);
    event.time_ns = last.count();
    take(event);
  }
  if (!events.empty()) give_up(std::min(last, now.monotonic));
}

void KernelLatencies::pass(Timestamp now) {
  now_ = now;
  give_up(now.monotonic);
}

void KernelLatencies::give_up(Nanoseconds time) {
  wakeups_.expire(time);
  timers_.expire(time);
  for (unsigned cpu = 0; cpu < cpus_; ++cpu) {
    const auto wakeups = wakeups_.take_unmatched(cpu);
    const std::uint64_t timers = timers_.take_unmatched(cpu);
    set(Latencies::kWakeup).count_unmatched(wakeups.exclusive, cpu, now_);
    set(Latencies::kWakeupShared).count_unmatched(wakeups.shared, cpu, now_);
    set(Latencies::kMissedTimerOffsets).count_unmatched(timers, cpu, now_);
    // It takes both ends.
    if (!is_on(Measuring::kTimerAndWakeup)) continue;
    set(Latencies::kTimerAndWakeup).count_unmatched(wakeups.timed + timers, cpu, now_);
  }
}

std::string KernelLatencies::take_warning() {
  for (std::size_t i = 0; i < kLatencies; ++i) {
    if (is_warned_[i] && is_warned_of_bounds_) continue;
    for (unsigned cpu = 0; cpu < sets_[i].cpus_in_use(); ++cpu) {
      if (std::string warning = warning_of(i, cpu); !warning.empty()) return warning;
    }
  }
  return {};
}

std::string KernelLatencies::warning_of(std::size_t set, unsigned cpu) {
  const CpuCounts counts = sets_[set].counts(cpu);
  if (counts.samples < kWarnedFrom && counts.unmatched < kWarnedFrom) return {};
  const std::string where =
      "tracing/latency_hist/" + std::string(kNames[set]) + "/CPU" + std::to_string(cpu) + ": ";
  if (!is_warned_[set] && counts.falls_short()) {
    is_warned_[set] = true;
    const std::string line = shortfall_line(kKinds[set], counts);
    return where + line.substr(1, line.size() - 2) + "; the file goes on saying so";
  }
  if (!is_warned_of_bounds_ && counts.bounded > counts.samples / 100) {
    is_warned_of_bounds_ = true;
    return where +
           "the kernel leaves out switches to tasks that wake; such a latency is taken as the time "
           "until the task's first later event (bounded in summary)";
  }
  return {};
}

bool KernelLatencies::makes_sense(const KernelEvent& event) const {
  const bool is_somewhere =
      event.kind == KernelEventKind::kLost && event.cpu == KernelEvent::kNoCpu;
  return (event.cpu < cpus_ || is_somewhere) && event.destination < cpus_ &&
         event.kind >= KernelEventKind::kWakeup && event.kind <= KernelEventKind::kTaskRan &&
         event.time_ns >= 0 && event.time_ns <= kEventTimeMaxNs && event.clock_ns >= 0;
}

void KernelLatencies::take(const KernelEvent& event) {
  switch (event.kind) {
    case KernelEventKind::kWakeup:
      return take_wakeup(event);
    case KernelEventKind::kSwitch:
      return take_switch(event);
    case KernelEventKind::kMigrate:
      return wakeups_.migrated(event, running_);
    case KernelEventKind::kTimerStart:
      take_sign(event.task.pid, event);
      if (uses_timers()) timers_.started(event, running_);
      return;
    case KernelEventKind::kTimerExpire:
      if (uses_timers()) timers_.expired(event, running_);
      return;
    case KernelEventKind::kTimerCancel:
      return timers_.cancelled(event);
    case KernelEventKind::kIrqsOff:
    case KernelEventKind::kIrqsOn:
    case KernelEventKind::kPreemptOff:
    case KernelEventKind::kPreemptOn:
      return take_section(event);
    case KernelEventKind::kLost:
      return lose(event.number, event.cpu);
    case KernelEventKind::kTaskRan:
      return take_sign(event.task.pid, event);
  }
}

void KernelLatencies::take_sign(pid_t pid, const KernelEvent& event) {
  if (pid == 0) return;
  const auto measured = wakeups_.ran(pid, Nanoseconds(event.time_ns));
  if (!measured) return;
  record(*measured);
  running_.switched(measured->record.cpu, measured->record.victim);
}

void KernelLatencies::take_wakeup(const KernelEvent& event) {
  take_sign(event.previous.pid, event);
  const auto woken = timers_.woken(event);
  if (woken.missed) set(Latencies::kMissedTimerOffsets).add(*woken.missed, now_);
  if (is_on(Measuring::kWakeup)) wakeups_.woken(event, running_, woken.offset);
}

void KernelLatencies::take_switch(const KernelEvent& event) {
  if (const auto measured = wakeups_.switched(event)) record(*measured);
  timers_.switched(event);
  running_.switched(event.cpu, event.task);
}

void KernelLatencies::record(const WakeupTracker::Measured& measured) {
  if (measured.sharing == Sharing::kShared) {
    return set(Latencies::kWakeupShared).add(measured.record, now_);
  }
  set(Latencies::kWakeup).add(measured.record, now_);
  if (!is_on(Measuring::kTimerAndWakeup) || !measured.timer_offset) return;
  Record both = measured.record;
  both.latency += *measured.timer_offset;
  set(Latencies::kTimerAndWakeup).add(both, now_);
}

void KernelLatencies::take_section(const KernelEvent& event) {
  if (!is_on(Measuring::kSections)) return;
  const auto ended = sections_[event.cpu].switched(event);
  const Task* const task = running_.on(event.cpu);
  for (std::size_t i = 0; i < kSectionKinds; ++i) {
    Set& ended_set = set(kSetOfSection[i]);
    ended_set.count_unmatched(ended.unmatched[i], event.cpu, now_);
    if (!ended.lengths[i]) continue;
    ended_set.add({.time = Nanoseconds(event.time_ns),
                   .cpu = event.cpu,
                   .latency = *ended.lengths[i],
                   .victim = task && task->pid == event.task.pid ? *task : event.task},
                  now_);
  }
}

// Any measurement under way may have ended in the gap.
void KernelLatencies::lose(std::uint64_t events, unsigned cpu) {
  forget_all();
  for (std::size_t i = 0; i < kLatencies; ++i) {
    if (is_on(kMeasuredBy[i])) sets_[i].count_lost(events, cpu, now_);
  }
}

void KernelLatencies::forget_all() {
  running_.forget_all();
  wakeups_.forget_all();
  timers_.forget_all();
  for (SectionTracker& section : sections_) section.forget_all();
}

Result<void> KernelLatencies::enable(Measuring what, std::int64_t value) {
  const auto place = static_cast<std::size_t>(what);
  auto& both = enabled_[static_cast<std::size_t>(Measuring::kTimerAndWakeup)];
  if (what == Measuring::kTimerAndWakeup && value != 0 &&
      !(is_on(Measuring::kWakeup) && is_on(Measuring::kMissedTimerOffsets))) {
    return Error{ErrorCode::kInvalid, "timerandwakeup needs wakeup and missed_timer_offsets on", 0};
  }
  const bool goes_off = enabled_[place] != 0 && value == 0;
  enabled_[place] = value;
  if (!goes_off) return {};
  if (what != Measuring::kSections) both = 0;
  if (what == Measuring::kWakeup) wakeups_.forget_all();
  if (what == Measuring::kMissedTimerOffsets) timers_.forget_all();
  if (what == Measuring::kSections) {
    for (SectionTracker& section : sections_) section.forget_all();
  }
  return {};
}

void KernelLatencies::select(Measuring what, pid_t pid) {
  selected_[static_cast<std::size_t>(what)] = pid;
  if (what == Measuring::kWakeup) wakeups_.select(pid);
  if (what == Measuring::kMissedTimerOffsets) timers_.select(pid);
}

}  // namespace tallyfs::latency_hist
