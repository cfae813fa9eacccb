#include "program/feeder/stop_signal.h"

#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>

namespace tallyfs {

Result<StopSignal> StopSignal::create() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGHUP);
  Fd fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd.valid()) return Error{ErrorCode::kNoSpace, "no descriptor left to wait for signals"};
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return StopSignal(std::move(fd));
}

}  // namespace tallyfs
