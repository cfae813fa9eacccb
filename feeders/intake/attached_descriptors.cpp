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

void set_blocked(int how) {
  sigset_t ours;
  sigemptyset(&ours);
  sigaddset(&ours, kSignal);
  ::pthread_sigmask(how, &ours, nullptr);
}

// Each thread has its own. To set a timer for each wait would cost more than to receive, in a
// virtual machine. So it goes on by itself: the kernel sets it again when the signal was taken,
// which is blocked but in such waits. A thread that receives nothing has one signal pending, and no
// timer.
class SignalTimer {
 public:
  SignalTimer() {
    static const bool is_taken = (take_signal(), true);
    set_blocked(SIG_BLOCK);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = kSignal;
    event._sigev_un._tid = ::gettid();
    has_timer_ = is_taken && ::timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
    if (!has_timer_) return;
    constexpr std::chrono::nanoseconds kPeriod = ClosingLimit::kLongest;
    const timespec time{.tv_sec = 0, .tv_nsec = kPeriod.count()};
    const itimerspec each{.it_interval = time, .it_value = time};
    ::timer_settime(timer_, 0, &each, nullptr);
  }
  ~SignalTimer() {
    if (has_timer_) ::timer_delete(timer_);
  }
  SignalTimer(const SignalTimer&) = delete;
  SignalTimer& operator=(const SignalTimer&) = delete;

 private:
  timer_t timer_{};
  bool has_timer_ = false;
};

}  // namespace

void accept_descriptors(int socket) {
  const int on = 1;
  ::setsockopt(socket, SOL_SOCKET, kPassRights, &on, sizeof on);
}

ClosingLimit::ClosingLimit() {
  static thread_local const SignalTimer timer;
  set_blocked(SIG_UNBLOCK);
}

ClosingLimit::~ClosingLimit() { set_blocked(SIG_BLOCK); }

}  // namespace tallyfs
