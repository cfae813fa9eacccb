// Tasks that were woken and have not been seen to run yet. Of these, the ones that turn out to have
// run without a switch to them: some kernels leave out switches from a CPU's idle task. What such a
// task does first is then the only sign of when it came.
//
// Confined to one thread. Holds at most kTasksMax tasks that were woken and kUnseenMax that came
// unseen; beyond that all of them are forgotten, and found again.
#pragma once

#include <sys/types.h>

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <vector>

namespace tallyfs {

class WokenTasks {
 public:
  static constexpr std::size_t kTasksMax = 4'096;
  static constexpr std::size_t kUnseenMax = 64;

  // Pid 0, an idle task or an interrupt, is no task here.
  void woken(pid_t task);
  void switched(std::uint32_t cpu, pid_t from, pid_t to);
  // The task has caused an event. Whether that is the first sign of it since it was woken.
  bool ran(pid_t task);
  // Events are missing: no conclusions from those before.
  void forget_woken();
  void forget_all();

  // In order.
  const std::vector<pid_t>& unseen() const { return unseen_; }

 private:
  void note_unseen(pid_t task);

  boost::unordered_flat_set<pid_t> woken_;
  std::vector<pid_t> running_;  // by CPU; 0: idle, or not known
  std::vector<pid_t> unseen_;
};

}  // namespace tallyfs
