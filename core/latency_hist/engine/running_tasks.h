// The task that runs on each CPU, as known from the switches seen. The kernel's filter leaves out
// switches between tasks that are not real-time. Then such a task runs, though perhaps not the one
// named here. Confined to its owner's lock.
#pragma once

#include <optional>
#include <vector>

#include "core/model/task.h"

namespace tallyfs::latency_hist {

class RunningTasks {
 public:
  explicit RunningTasks(unsigned cpus) : tasks_(cpus) {}

  // Nullptr: nothing has been seen there since the beginning or the last loss. cpu is one of them.
  const Task* on(unsigned cpu) const { return tasks_[cpu] ? &*tasks_[cpu] : nullptr; }
  void switched(unsigned cpu, const Task& to) { tasks_[cpu] = to; }
  void forget_all() { tasks_.assign(tasks_.size(), std::nullopt); }

 private:
  std::vector<std::optional<Task>> tasks_;
};

}  // namespace tallyfs::latency_hist
