// A trace event of the kernel, for latency histograms. It has 88 bytes and the layout of the wire
// (core/wire/FORMAT.md, kind 7), so that the intake can pass datagrams on in place. A plain value:
// kind and CPU are not checked yet.
#pragma once

#include <cstdint>

#include "core/model/task.h"

namespace tallyfs {

enum class KernelEventKind : std::uint16_t {
  kWakeup = 1,       // sched_wakeup, sched_wakeup_new
  kSwitch = 2,       // sched_switch
  kMigrate = 3,      // sched_migrate_task
  kTimerStart = 4,   // hrtimer_start of a timer whose function is hrtimer_wakeup
  kTimerExpire = 5,  // hrtimer_expire_entry of such a timer
  kTimerCancel = 6,  // hrtimer_cancel
  kIrqsOff = 7,      // preemptirq:irq_disable
  kIrqsOn = 8,       // preemptirq:irq_enable
  kPreemptOff = 9,   // preemptirq:preempt_disable
  kPreemptOn = 10,   // preemptirq:preempt_enable
  kLost = 11,        // events are missing here; which ones is unknown
  kTaskRan = 12,     // raw_syscalls:sys_exit: the task runs
};

// No clock has been running for so long: sums and differences of such times fit into 64 bits.
inline constexpr std::int64_t kEventTimeMaxNs = std::int64_t{1} << 62;

struct KernelEvent {
  static constexpr std::uint32_t kNoCpu = 0xffff'ffff;

  std::int64_t time_ns = 0;  // CLOCK_MONOTONIC
  KernelEventKind kind = KernelEventKind::kLost;
  std::uint16_t zero = 0;
  // The CPU where the event happened. A wakeup has the CPU where the task is to run; a loss may
  // have kNoCpu: unknown.
  std::uint32_t cpu = 0;
  std::uint32_t destination = 0;  // of a migration
  std::uint32_t zero_too = 0;
  std::uint64_t number = 0;  // of a timer, its address; of a loss, how many events at least
  std::int64_t clock_ns =
      0;  // of a timer's start, when it shall expire; of its expiry, when it did
  // A wakeup's and a migration's task; a switch's next task. Other events have only the pid of the
  // running task, which after a timer's start will sleep until the timer expires.
  Task task;
  // A switch's previous task. A wakeup has only the pid of the waking task; 0: an interrupt woke
  // it.
  Task previous;
};
static_assert(sizeof(KernelEvent) == 88);

}  // namespace tallyfs
