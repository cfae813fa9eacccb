#include "feeders/kernel/woken_tasks.h"

#include <algorithm>

namespace tallyfs {

// A task that is woken before it has gone runs on, and no switch to it will come.
void WokenTasks::woken(pid_t task) {
  if (task == 0 || std::ranges::find(running_, task) != running_.end()) return;
  if (woken_.size() == kTasksMax) woken_.clear();
  woken_.insert(task);
}

void WokenTasks::switched(std::uint32_t cpu, pid_t from, pid_t to) {
  woken_.erase(to);
  (void)ran(from);
  if (cpu >= running_.size()) running_.resize(cpu + std::size_t{1});
  running_[cpu] = to;
}

bool WokenTasks::ran(pid_t task) {
  if (woken_.erase(task) == 0) return false;
  note_unseen(task);
  return true;
}

void WokenTasks::note_unseen(pid_t task) {
  const auto at = std::ranges::lower_bound(unseen_, task);
  if (at != unseen_.end() && *at == task) return;
  if (unseen_.size() < kUnseenMax) {
    unseen_.insert(at, task);
  } else {
    unseen_.assign(1, task);
  }
}

void WokenTasks::forget_woken() {
  woken_.clear();
  running_.clear();
}

void WokenTasks::forget_all() {
  forget_woken();
  unseen_.clear();
}

}  // namespace tallyfs
