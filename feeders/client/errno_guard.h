// Restores errno at its end, and keeps the thread from being cancelled while it lives: send(2) is a
// cancellation point, and the thread might hold a lock there.
#pragma once

#include <pthread.h>

#include <cerrno>

namespace tallyfs {

class ErrnoGuard {
 public:
  ErrnoGuard() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_); }
  ~ErrnoGuard() {
    ::pthread_setcancelstate(cancel_state_, nullptr);
    errno = errno_;
  }
  ErrnoGuard(const ErrnoGuard&) = delete;
  ErrnoGuard& operator=(const ErrnoGuard&) = delete;

 private:
  const int errno_ = errno;
  int cancel_state_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace tallyfs
