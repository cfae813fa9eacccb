#include "feeders/log/signals.h"

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <utility>

namespace tallyfs::logs {

Result<Signals> Signals::create() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  Fd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return Error{ErrorCode::kNoSpace, "no descriptor left to wait for signals"};
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return Signals(std::move(fd));
}

void Signals::read() {
  signalfd_siginfo signal{};
  while (::read(fd_.get(), &signal, sizeof signal) == sizeof signal) {
    (signal.ssi_signo == SIGHUP ? wants_reload_ : is_stopped_) = true;
  }
}

bool Signals::take_reload() { return std::exchange(wants_reload_, false); }

}  // namespace tallyfs::logs
