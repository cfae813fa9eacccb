#include "feeders/kernel/wanted_trace.h"

#include <string>

namespace tallyfs {
namespace {

// The filter `FIELD<100`, for real-time tasks, and the selected tasks beside them.
std::string tasks_of(const WantedEvents& wanted, const std::string& prefix) {
  std::string filter = prefix + "prio<100";
  for (const pid_t pid : {wanted.wakeup_pid, wanted.timer_pid}) {
    if (pid != 0) filter += "||" + prefix + "pid==" + std::to_string(pid);
  }
  return filter;
}

std::string wakeups_of(const WantedEvents& wanted, const std::vector<pid_t>& without) {
  std::string filter = "(" + tasks_of(wanted, "") + ")";
  for (const pid_t pid : without) filter += "&&pid!=" + std::to_string(pid);
  return filter;
}

std::string caused_by(const std::vector<pid_t>& tasks) {
  std::string filter;
  for (const pid_t task : tasks) {
    filter += (filter.empty() ? "common_pid==" : "||common_pid==") + std::to_string(task);
  }
  return filter;
}

}  // namespace

std::vector<TracefsInstance::Event> trace_events(const WantedEvents& wanted,
                                                 const std::vector<pid_t>& without,
                                                 const std::vector<pid_t>& exits_of) {
  std::vector<TracefsInstance::Event> events;
  if (wanted.wakeups || wanted.timers) {
    const std::string wakeups = wakeups_of(wanted, without);
    // In this order no wakeup is recorded whose switch is not.
    events.push_back(
        {"sched", "sched_switch", tasks_of(wanted, "next_") + "||" + tasks_of(wanted, "prev_")});
    events.push_back({"sched", "sched_wakeup", wakeups});
    events.push_back({"sched", "sched_wakeup_new", wakeups});
    events.push_back({"sched", "sched_migrate_task", tasks_of(wanted, "")});
  }
  if (!exits_of.empty()) events.push_back({"raw_syscalls", "sys_exit", caused_by(exits_of)});
  if (wanted.timers) {
    constexpr const char* kSleepers = "function.function == hrtimer_wakeup";
    events.push_back({"timer", "hrtimer_start", kSleepers});
    events.push_back({"timer", "hrtimer_expire_entry", kSleepers});
    events.push_back({"timer", "hrtimer_cancel"});
  }
  if (wanted.sections) {
    for (const char* const name :
         {"irq_disable", "irq_enable", "preempt_disable", "preempt_enable"})
      events.push_back({"preemptirq", name});
  }
  return events;
}

}  // namespace tallyfs
