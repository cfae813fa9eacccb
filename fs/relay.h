// Which of the serving threads listens for requests: one at a time, so that requests that come one
// by one are served by one thread on one processor and wake nobody else. Before work that may take
// long it passes on, and another one listens.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <thread>

#include "core/base/mutex.h"

namespace tally {

class Relay {
 public:
  // Waits until no thread listens; from then on this one does. False: it is over.
  bool take() EXCLUDES(mutex_) {
    mutex_.lock();
    while (!is_over_ && listener_.load(std::memory_order_relaxed) != std::thread::id())
      changed_.wait(mutex_);
    listener_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    const bool goes_on = !is_over_;
    mutex_.unlock();
    return goes_on;
  }
  // What the calling thread alone can change.
  bool listens() const {
    return listener_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }
  // If this thread listens, another one does from now on. Cheap if it does not.
  void pass_on() EXCLUDES(mutex_) {
    if (!listens()) return;
    {
      const MutexLock lock(mutex_);
      listener_.store(std::thread::id(), std::memory_order_relaxed);
    }
    changed_.notify_one();
  }
  void end() EXCLUDES(mutex_) {
    {
      const MutexLock lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
  }

 private:
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool is_over_ GUARDED_BY(mutex_) = false;
  std::atomic<std::thread::id> listener_{};  // none, or one; written under the mutex
};

}  // namespace tally
