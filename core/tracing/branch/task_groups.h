// Which process each traced thread belongs to, while options/record-tgid is on: for saved_tgids and
// the column TGID of `trace`. A thread is looked up when a record of it comes first, and again with
// a record that comes kFreshFor later or shows another name: its number may have been given to
// another thread. One that has ended by then keeps its process, unless its name is another.
//
// Confined to the lock of Tracing's State. At most kTasksMax threads: with one more the one that
// was looked up the longest time ago is forgotten.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "core/tracing/trace/trace_buffer.h"

namespace tallyfs::tracing {

class TaskGroups {
 public:
  static constexpr std::size_t kTasksMax = 65'536;
  // The kernel takes longer to give all other numbers to threads.
  static constexpr std::chrono::seconds kFreshFor{1};
  using Groups = TraceBuffer::Groups;
  using Time = std::chrono::nanoseconds;
  using Names = std::map<pid_t, std::string>;  // empty: unknown

  // A record of this thread has come. comm: empty: unknown.
  void note(pid_t task, std::string_view comm, Time now) {
    if (task == 0) return;
    const auto known = known_.find(task);
    const bool is_current = known != known_.end() && known->second.has_name(comm) &&
                            now < known->second.time + kFreshFor;
    if (!is_current) due_.try_emplace(task, comm);
  }
  bool has_due() const { return !due_.empty(); }
  // Threads that are to be looked up, and their names.
  Names take_due() { return std::exchange(due_, {}); }
  // group: 0: it has ended. Returns whether all() is different.
  bool enter(pid_t task, const std::string& comm, pid_t group, Time now) {
    const auto [at, is_new] = known_.try_emplace(task);
    Known& known = at->second;
    const bool is_same = known.has_name(comm) || now < known.time + kFreshFor;
    if (!is_new && group == 0 && is_same) group = known.group;
    by_time_.erase({known.time, task});
    by_time_.emplace(known.time = now, task);
    if (!comm.empty()) known.name = comm;
    if (std::exchange(known.group, group) == group && !is_new) return false;
    all_.reset();
    if (known_.size() > kTasksMax) forget_oldest();
    return true;
  }
  void clear() {
    if (!known_.empty()) *this = {};
  }
  // The present groups of all tasks.
  std::shared_ptr<const Groups> all() {
    if (all_) return all_;
    const auto made = std::make_shared<Groups>();
    for (const auto& [task, known] : known_) made->emplace_hint(made->end(), task, known.group);
    return all_ = made;
  }

 private:
  struct Known {
    pid_t group = 0;
    std::string name{};
    Time time{};  // of the last look

    bool has_name(std::string_view comm) const {
      return comm.empty() || name.empty() || comm == name;
    }
  };

  void forget_oldest() {
    known_.erase(by_time_.begin()->second);
    by_time_.erase(by_time_.begin());
  }

  std::map<pid_t, Known> known_;
  std::set<std::pair<Time, pid_t>> by_time_;
  Names due_;
  std::shared_ptr<const Groups> all_;  // made when a text needs it; shared with those
};

}  // namespace tallyfs::tracing
