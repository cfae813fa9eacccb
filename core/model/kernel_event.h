// A trace event of the kernel, as the latency histograms take it. 88 bytes, laid out as on the wire
// (core/wire/FORMAT.md, kind 7), so that the intake can hand datagrams on in place. A plain value:
// it is not yet checked whether the kind and the CPU exist.
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
  // Where it happened; of a wakeup, where the task is to run; of a loss also kNoCpu: unknown.
  std::uint32_t cpu = 0;
  std::uint32_t destination = 0;  // of a migration
  std::uint32_t zero_too = 0;
  std::uint64_t number = 0;  // of a timer, its address; of a loss, how many events at least
  std::int64_t clock_ns =
      0;  // of a timer's start, when it shall expire; of its expiry, when it did
  // Of a wakeup and a migration: its task. Of a switch: the next task. Of the others: the pid of
  // the running task; of a timer's start that is the task that will sleep until it expires.
  Task task;
  // Of a switch: the previous task. Of a wakeup: the pid of the task that did it; 0: an interrupt.
  Task previous;
};
static_assert(sizeof(KernelEvent) == 88);

}  // namespace tallyfs
