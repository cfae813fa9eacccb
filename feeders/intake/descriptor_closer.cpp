#include "feeders/intake/descriptor_closer.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/descriptor_numbers.h"

#define UNWATCHED __attribute__((no_sanitize("thread", "address")))

#ifdef __SANITIZE_THREAD__
// clone() of the C library. ThreadSanitizer has one of its own, which takes each clone for a fork,
// and then both sides give back its locks.
extern "C" int __clone(int (*run)(void*), void* stack, int flags, void* argument, ...) noexcept;
#define clone __clone
#endif

namespace tallyfs {
namespace {

// Signals are for the threads that wait for them.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

// Where no process can be made, the next descriptor tries again.
void DescriptorCloser::close(Fd fd) {
  if (!fd.valid()) return;
  const MutexLock lock(mutex_);
  kept_.push_back(fd.release());
  if ((!run_ || run_->has_ended) && !begin()) return;
  while (!kept_.empty() && hand_over(kept_.back())) kept_.pop_back();
}

bool DescriptorCloser::may_receive(std::size_t descriptors) const {
  const MutexLock lock(mutex_);
  return kept_.size() + (run_ ? run_->waiting.load() : 0) + descriptors <= kWaitingMax;
}

bool DescriptorCloser::begin() {
  std::array<int, 2> made{};
  if (::pipe2(made.data(), O_CLOEXEC) != 0) return false;
  run_ = std::make_shared<Run>();
  run_->from = Fd(made[0]);
  run_->reads = made[0];
  to_ = Fd(made[1]);
  ::fcntl(to_.get(), F_SETFL, O_NONBLOCK);
  run_->parent = ::getpid();
  try {
    const SignalsBlocked blocked;
    std::thread([run = run_] { stand_for(run); }).detach();
    return true;
  } catch (const std::system_error&) {
    run_.reset();
    return false;
  }
}

bool DescriptorCloser::hand_over(int fd) {
  run_->waiting += 1;
  announce_unseen_close();
  if (::write(to_.get(), &fd, sizeof fd) == sizeof fd) return true;
  run_->waiting -= 1;
  return false;
}

// Returns when the process has ended: there is nothing more to close, or it was killed.
void DescriptorCloser::stand_for(const std::shared_ptr<Run>& run) {
  const pid_t made = ::clone(&DescriptorCloser::close_all, run->stack.data() + run->stack.size(),
                             CLONE_VM | CLONE_FILES, run.get());
  if (made > 0) wait_for(made);
  run->has_ended = true;
}

// Both have the same thread-local storage, and use no more of it than errno: no other function than
// syscall() is called, and none is watched by a sanitizer. Here errno may be that of a close of the
// process.
UNWATCHED void DescriptorCloser::wait_for(pid_t process) {
  while (::syscall(SYS_wait4, process, nullptr, __WALL, nullptr) != process && errno != ECHILD) {
  }
}

// In the process. The kernel kills it when the thread that stands for it dies.
UNWATCHED int DescriptorCloser::close_all(void* argument) {
  Run& run = *static_cast<Run*>(argument);
  ::syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  if (::syscall(SYS_getppid) != run.parent) return 0;
  int fd = -1;
  while (::syscall(SYS_read, run.reads, &fd, sizeof fd) == sizeof fd) {
    ::syscall(SYS_close, fd);
    run.waiting.fetch_sub(1);
  }
  return 0;
}

}  // namespace tallyfs
