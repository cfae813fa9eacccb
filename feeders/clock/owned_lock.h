// A lock that knows its owner, for code that a signal handler may interrupt with fork(). The
// handlers of pthread_atfork() must not wait for the very thread that they have interrupted. In the
// child, the lock of a thread that no longer exists is made anew. The lock is held for
// microseconds, so a waiting thread polls, and yields the CPU in between. It has a rank in the
// order of locks, as a Mutex has.
//
// Threads: any. try_lock(), unlock() and is_mine() are signal-safe.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "core/base/mutex.h"

namespace tallyfs {

// An address that no other living thread has; in a forked child that of the thread that forked.
inline std::uintptr_t this_thread() {
  [[gnu::tls_model("initial-exec")]] static thread_local constinit std::uint64_t t_here = 0;
  return reinterpret_cast<std::uintptr_t>(&t_here);
}

class CAPABILITY("mutex") OwnedLock {
 public:
#ifdef TALLYFS_LOCK_RANKS
  explicit constexpr OwnedLock(LockRank rank) : rank_(rank) {}
#else
  explicit constexpr OwnedLock(LockRank) {}
#endif
  OwnedLock(const OwnedLock&) = delete;
  OwnedLock& operator=(const OwnedLock&) = delete;

  void lock() ACQUIRE() {
    constexpr int kYields = 100;
    // A thread of a lower real-time priority gets no CPU by yielding.
    constexpr timespec kPause = {.tv_sec = 0, .tv_nsec = 50'000};
    check_order();
    for (int i = 0; !take(); ++i) {
      if (i < kYields) {
        ::sched_yield();
      } else {
        ::nanosleep(&kPause, nullptr);
      }
    }
    note_locked();
  }
  bool try_lock() TRY_ACQUIRE(true) {
    if (!take()) return false;
    note_locked();
    return true;
  }
  void unlock() RELEASE() {
    note_unlocked();
    owner_.store(0, std::memory_order_release);
  }

  bool is_mine() const { return owner_.load(std::memory_order_relaxed) == this_thread(); }
  // In a forked child, whose only thread calls it. True: it was held by a thread that is gone, in
  // the middle of something.
  bool take_from_the_gone() NO_THREAD_SAFETY_ANALYSIS {
    const std::uintptr_t owner = owner_.load(std::memory_order_relaxed);
    if (owner == 0 || owner == this_thread()) return false;
    owner_.store(0, std::memory_order_release);
    return true;
  }

 private:
  bool take() {
    std::uintptr_t nobody = 0;
    return owner_.compare_exchange_strong(nobody, this_thread(), std::memory_order_acquire);
  }

#ifdef TALLYFS_LOCK_RANKS
  void check_order() const { check_lock_order(rank_); }
  void note_locked() const { tallyfs::note_locked(rank_); }
  void note_unlocked() const { tallyfs::note_unlocked(rank_); }

  const LockRank rank_;
#else
  void check_order() const {}
  void note_locked() const {}
  void note_unlocked() const {}
#endif
  std::atomic<std::uintptr_t> owner_{0};
};

class SCOPED_CAPABILITY Owned {
 public:
  explicit Owned(OwnedLock& lock) ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  ~Owned() RELEASE() { lock_.unlock(); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

 private:
  OwnedLock& lock_;
};

}  // namespace tallyfs
