#include "fs/daemon/kernel_feeder/side_process.h"

#include <fcntl.h>
#include <unistd.h>

#include "core/base/fd.h"

namespace tallyfs {

void ignore_ending_signals() {
  for (const int signal : kEndingSignals) std::signal(signal, SIG_IGN);
}

void let_go(StandardError error) {
  (void)!::chdir("/");
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ::dup2(null.get(), STDIN_FILENO);
  ::dup2(null.get(), STDOUT_FILENO);
  if (error == StandardError::kGoes) ::dup2(null.get(), STDERR_FILENO);
}

}  // namespace tallyfs
