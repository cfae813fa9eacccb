// Which of the serving threads listens for requests: one at a time, so that requests that come one
// by one are served by one thread on one processor and wake nobody else. Before work that may take
// long it passes on, and another one listens: the one that has waited least, so that no more
// threads have memory of their own with the C library than there is work for at once.
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

class Relay {
 public:
  // Waits until no thread listens; from then on this one does. False: it is over.
  bool take() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    Waiter self{.thread = std::this_thread::get_id()};
    if (listener_.load(std::memory_order_relaxed) != std::thread::id()) {
      waiting_.push_back(&self);
      while (!is_over_ && !self.is_next) self.changed.wait(mutex_);
      std::erase(waiting_, &self);
    }
    listener_.store(self.thread, std::memory_order_relaxed);
    return !is_over_;
  }
  // What the calling thread alone can change.
  bool listens() const {
    return listener_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  // If this thread listens, another one does from now on. Cheap if it does not.
  void pass_on() EXCLUDES(mutex_) {
    if (!listens()) return;
    const MutexLock lock(mutex_);
    if (waiting_.empty()) {
      listener_.store(std::thread::id(), std::memory_order_relaxed);
      return;
    }
    Waiter& next = *waiting_.back();
    waiting_.pop_back();
    listener_.store(next.thread, std::memory_order_relaxed);
    next.is_next = true;
    next.changed.notify_one();
  }
  // How many threads wait to listen.
  std::size_t waiting() EXCLUDES(mutex_) {
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
  std::atomic<std::thread::id> listener_{};  // none, or one; written under the mutex
};

}  // namespace tallyfs
