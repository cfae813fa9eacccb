// Which process each traced thread belongs to, while options/record-tgid is on: for saved_tgids and
// the column TGID of `trace`. A thread is looked up when a record of it comes first; one that has
// ended by then is not known.
//
// Confined to the lock of Tracing's State. At most kTasksMax threads; further ones are not known.
#pragma once

#include <sys/types.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "core/event/trace/trace_buffer.h"

namespace tallyfs {

class TaskGroups {
 public:
  static constexpr std::size_t kTasksMax = 65'536;
  using Groups = TraceBuffer::Groups;

  // A record of this thread has come.
  void note(pid_t task) {
    if (task != 0 && !groups_->contains(task) && groups_->size() < kTasksMax) new_.insert(task);
  }
  bool has_new() const { return !new_.empty(); }
  // Threads that are to be looked up.
  std::set<pid_t> take_new() { return std::exchange(new_, {}); }
  // group: 0: it has ended.
  void enter(pid_t task, pid_t group) {
    if (groups_.use_count() > 1) groups_ = std::make_shared<Groups>(*groups_);
    groups_->emplace(task, group);
  }
  // As they are now.
  std::shared_ptr<const Groups> all() const { return groups_; }

 private:
  std::shared_ptr<Groups> groups_ = std::make_shared<Groups>();  // shared with texts that are made
  std::set<pid_t> new_;
};

}  // namespace tallyfs
