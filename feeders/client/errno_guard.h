// While one lives, the thread is not cancelled (it might hold a lock, in a send(2) that is a
// cancellation point), and errno is at its end what it was: the program did not ask for either.
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
