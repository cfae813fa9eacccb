#include "feeders/intake/attached_descriptors.h"

#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

namespace tallyfs {
namespace {

constexpr int kPassRights = 83;  // SO_PASSRIGHTS of asm-generic/socket.h

// Ignored by default, and so harmless where it comes late.
constexpr int kSignal = SIGURG;

void take_signal() {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  action.sa_flags = SA_RESTART;
  ::sigaction(kSignal, &action, nullptr);
}

// Of a thread.
class SignalTimer {
 public:
  SignalTimer() {
    static const bool is_taken = (take_signal(), true);
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, kSignal);
    ::pthread_sigmask(SIG_UNBLOCK, &ours, nullptr);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kSignal;
    event._sigev_un._tid = ::gettid();
    has_timer_ = is_taken && ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  }
  ~SignalTimer() {
    if (has_timer_) ::timer_delete(timer_);
  }
  SignalTimer(const SignalTimer&) = delete;
  SignalTimer& operator=(const SignalTimer&) = delete;

  // 0: never.
  void set(std::chrono::nanoseconds period) const {
    if (!has_timer_) return;
    const timespec time{.tv_sec = 0, .tv_nsec = period.count()};
    const itimerspec each{.it_interval = time, .it_value = time};
    ::timer_settime(timer_, 0, &each, nullptr);
  }

 private:
  timer_t timer_{};
  bool has_timer_ = false;
};

const SignalTimer& timer_of_thread() {
  static thread_local const SignalTimer timer;
  return timer;
}

}  // namespace

void refuse_descriptors(int socket) {
  const int off = 0;
  ::setsockopt(socket, SOL_SOCKET, kPassRights, &off, sizeof off);
}

bool refuses_descriptors(int socket) {
  int passes = 1;
  socklen_t size = sizeof passes;
  return ::getsockopt(socket, SOL_SOCKET, kPassRights, &passes, &size) == 0 && passes == 0;
}

ClosingLimit::ClosingLimit() { timer_of_thread().set(kLongest); }

ClosingLimit::~ClosingLimit() { timer_of_thread().set(std::chrono::nanoseconds(0)); }

}  // namespace tallyfs
