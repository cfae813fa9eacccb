// Closes descriptors of others: the close of one that a sender has attached may wait, for a reader
// of its data (SO_LINGER), or for a file system of the sender's own (FUSE), which no signal ends.
//
// So they are closed by a process of their own, which shares this one's descriptors and memory. The
// end of this process waits for its threads, as a thread that closes would wait; but not for that
// process, which the kernel kills then. While its wait goes on, it holds what was open.
//
// Thread-safe. The process begins with the first descriptor. A thread of this one stands for it,
// which lends it its thread-local storage and waits for its end. It is not suspended meanwhile
// (CLONE_VFORK): the kernel would count it as work (loadavg), and no debugger could stop it.
// Limits: a sender's descriptors are taken while may_receive(). Beyond kWaitingMax the kernel has
// no place to put them, and drops them by itself (attached_descriptors.h).
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "core/base/fd.h"
#include "core/base/mutex.h"

namespace tallyfs {

class DescriptorCloser {
 public:
  static constexpr std::size_t kWaitingMax = 256;

  DescriptorCloser() = default;
  DescriptorCloser(const DescriptorCloser&) = delete;
  DescriptorCloser& operator=(const DescriptorCloser&) = delete;

  void close(Fd fd) EXCLUDES(mutex_);
  // Whether so many more may come.
  bool may_receive(std::size_t descriptors) const EXCLUDES(mutex_);

 private:
  // One run of the process. Shared with the thread that stands for it, which dies last.
  struct Run {
    Fd from;  // descriptors, by their numbers
    int reads = -1;  // its number
    std::atomic<std::size_t> waiting{0};
    std::atomic<bool> has_ended{false};
    pid_t parent = 0;
    alignas(16) std::array<char, 64 * 1024> stack;
  };

  bool begin() REQUIRES(mutex_);
  bool hand_over(int fd) REQUIRES(mutex_);
  static void stand_for(const std::shared_ptr<Run>& run);
  static void wait_for(pid_t process);
  static int close_all(void* run);

  mutable Mutex mutex_{LockRank::kDescriptorCloser};
  std::shared_ptr<Run> run_ GUARDED_BY(mutex_);
  Fd to_ GUARDED_BY(mutex_);                // run_->from reads what is written here
  std::vector<int> kept_ GUARDED_BY(mutex_);  // no process could be made yet
};

}  // namespace tallyfs
