// Selects the one serving thread that receives requests, the leader (the pattern Leader/Followers).
// So requests that come one by one are served by one thread on one processor, and no other thread
// wakes. Before work that may take long the leader promotes a follower: the one that has waited
// least. So no more threads have memory of their own in the C library than there is work for at
// once.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <thread>
#include <vector>

#include "core/base/mutex.h"

namespace tallyfs {

class LeaderFollowers {
 public:
  // Waits until there is no leader; from then on this thread leads. False: end() was called.
  bool lead() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    Waiter self{.thread = std::this_thread::get_id()};
    if (leader_.load(std::memory_order_relaxed) != std::thread::id()) {
      waiting_.push_back(&self);
      while (!is_over_ && !self.is_next) self.changed.wait(mutex_);
      std::erase(waiting_, &self);
    }
    leader_.store(self.thread, std::memory_order_relaxed);
    return !is_over_;
  }
  // Whether the calling thread leads; only that thread can change it.
  bool is_leader() const {
    return leader_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  // If this thread leads, a follower leads from now on. Cheap if it does not lead.
  void promote_follower() EXCLUDES(mutex_) {
    if (!is_leader()) return;
    const MutexLock lock(mutex_);
    if (waiting_.empty()) {
      leader_.store(std::thread::id(), std::memory_order_relaxed);
      return;
    }
    Waiter& next = *waiting_.back();
    waiting_.pop_back();
    leader_.store(next.thread, std::memory_order_relaxed);
    next.is_next = true;
    next.changed.notify_one();
  }
  // How many threads wait to lead.
  std::size_t followers() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return waiting_.size();
  }
  void end() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    is_over_ = true;
    for (Waiter* const each : waiting_) each->changed.notify_one();
  }

 private:
  struct Waiter {
    std::thread::id thread;
    std::condition_variable_any changed = {};  // waits on mutex_
    bool is_next = false;                      // guarded by it
  };

  Mutex mutex_{LockRank::kLeaderFollowers};
  std::vector<Waiter*> waiting_ GUARDED_BY(mutex_);  // the last has waited least
  bool is_over_ GUARDED_BY(mutex_) = false;
  std::atomic<std::thread::id> leader_{};  // none, or one; written under the mutex
};

}  // namespace tallyfs
