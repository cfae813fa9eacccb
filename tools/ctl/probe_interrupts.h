// SIGINT, SIGTERM and SIGHUP of a command that has something to take away: they are blocked, and
// looked for where the command waits. Those that are ignored, as SIGHUP after nohup, stay so. One
// object in a process, made before its threads.
#pragma once

#include <signal.h>

#include <chrono>

namespace tallyfs {

class ProbeInterrupts {
 public:
  ProbeInterrupts() {
    ::sigemptyset(&signals_);
    for (const int each : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction now {};
      const bool is_ignored = ::sigaction(each, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
      if (!is_ignored) ::sigaddset(&signals_, each);
    }
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }

  // While it lives, they end the process at once: there is nothing to take away yet, and a file may
  // hang. Of the thread that made the other one.
  class Unblocked {
   public:
    explicit Unblocked(const ProbeInterrupts& interrupts) : signals_(interrupts.signals_) {
      ::pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    }
    Unblocked(const Unblocked&) = delete;
    Unblocked& operator=(const Unblocked&) = delete;
    ~Unblocked() { ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr); }

   private:
    const sigset_t signals_;
  };

  // Waits so long. Whether the command was interrupted, now or before.
  bool wait(std::chrono::nanoseconds time) {
    const timespec most{.tv_sec = time.count() / 1'000'000'000,
                        .tv_nsec = time.count() % 1'000'000'000};
    if (!is_interrupted_) is_interrupted_ = ::sigtimedwait(&signals_, nullptr, &most) > 0;
    return is_interrupted_;
  }

 private:
  sigset_t signals_;
  bool is_interrupted_ = false;
};

}  // namespace tallyfs
