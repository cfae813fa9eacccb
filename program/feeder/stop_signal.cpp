#include "program/feeder/stop_signal.h"

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <utility>

namespace tallyfs {

Result<StopSignal> StopSignal::create(Hangup hangup) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  Fd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return Error{ErrorCode::kNoSpace, "no descriptor left to wait for signals"};
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return StopSignal(std::move(fd), hangup);
}

void StopSignal::read() {
  signalfd_siginfo signal{};
  while (::read(fd_.get(), &signal, sizeof signal) == sizeof signal) {
    const bool reloads = signal.ssi_signo == SIGHUP && hangup_ == Hangup::kReloads;
    (reloads ? wants_reload_ : is_stopped_) = true;
  }
}

bool StopSignal::take_reload() { return std::exchange(wants_reload_, false); }

}  // namespace tallyfs
