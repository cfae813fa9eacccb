#include "fs/daemon/background.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "fs/daemon/kernel_feeder/side_process.h"

namespace tallyfs {
namespace {

// Exits with 0 once the child has called ready(), or with the child's own status.
[[noreturn]] void wait_for(pid_t child, const Fd& pipe) {
  char byte = 0;
  if (::read(pipe.get(), &byte, 1) == 1) ::_exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::_exit(WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 1);
}

}  // namespace

Background Background::enter() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    std::perror("tallyfs: pipe");
    std::exit(1);
  }
  Fd reading(ends[0]);
  Fd writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    std::perror("tallyfs: fork");
    std::exit(1);
  }
  if (child > 0) {
    writing.reset();
    wait_for(child, reading);
  }
  ::setsid();
  return Background(std::move(writing));
}

void Background::ready() {
  let_go();
  const char byte = 1;
  if (::write(pipe_.get(), &byte, 1) != 1) std::abort();
  pipe_.reset();
}

}  // namespace tallyfs
