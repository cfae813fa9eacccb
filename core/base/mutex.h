// Locks that clang can check: a member has GUARDED_BY(mutex_), a private function REQUIRES(mutex_),
// and -Wthread-safety -Werror enforces both (the clang preset). Each lock has a rank in the order
// of locks, see lock_rank.h.
#pragma once

#include <mutex>

#include "core/base/lock_rank.h"

#if defined(__clang__)
#define TALLY_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define TALLY_THREAD_ANNOTATION(x)
#endif

#define CAPABILITY(x) TALLY_THREAD_ANNOTATION(capability(x))
#define SCOPED_CAPABILITY TALLY_THREAD_ANNOTATION(scoped_lockable)
#define GUARDED_BY(x) TALLY_THREAD_ANNOTATION(guarded_by(x))
#define REQUIRES(...) TALLY_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define ACQUIRE(...) TALLY_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define RELEASE(...) TALLY_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define TRY_ACQUIRE(...) TALLY_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define EXCLUDES(...) TALLY_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define RETURN_CAPABILITY(x) TALLY_THREAD_ANNOTATION(lock_returned(x))
#define NO_THREAD_SAFETY_ANALYSIS TALLY_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace tallyfs {

class CAPABILITY("mutex") Mutex {
 public:
#ifdef TALLYFS_LOCK_RANKS
  explicit constexpr Mutex(LockRank rank) : rank_(rank) {}
#else
  explicit constexpr Mutex(LockRank) {}
#endif
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() ACQUIRE() {
#ifdef TALLYFS_LOCK_RANKS
    check_lock_order(rank_);
#endif
    mutex_.lock();
    note_locked();
  }
  void unlock() RELEASE() {
    note_unlocked();
    mutex_.unlock();
  }
  // May be called in a signal handler; false if the thread that it interrupted has the lock.
  bool try_lock() TRY_ACQUIRE(true) {
    if (!mutex_.try_lock()) return false;
    note_locked();
    return true;
  }

 private:
#ifdef TALLYFS_LOCK_RANKS
  void note_locked() const { tallyfs::note_locked(rank_); }
  void note_unlocked() const { tallyfs::note_unlocked(rank_); }

  const LockRank rank_;
#else
  void note_locked() const {}
  void note_unlocked() const {}
#endif
  std::mutex mutex_;
};

class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace tallyfs
