#include "tools/ctl/hook.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "core/base/fd.h"
#include "program/duration.h"

namespace tallyfs {
namespace {

constexpr int kNotExecuted = 127;

[[noreturn]] void become(const std::string& command, const Environment& environment) {
  ::setpgid(0, 0);
  const int null = ::open("/dev/null", O_RDONLY);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  ::_exit(kNotExecuted);
}

// Whether the process ended in its time.
bool wait_for(pid_t child, std::chrono::milliseconds longest) {
  const Fd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  if (!process.valid()) return true;  // waitpid() waits
  pollfd end{.fd = process.get(), .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, static_cast<int>(longest.count())) != 0;
}

}  // namespace

Result<void> run_hook(const std::string& command, const Environment& environment,
                      std::chrono::milliseconds longest) {
  const pid_t child = ::fork();
  if (child < 0) return invalid("--run: " + std::string(std::strerror(errno)));
  if (child == 0) become(command, environment);
  const bool has_ended = wait_for(child, longest);
  if (!has_ended) ::kill(-child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!has_ended) {
    const auto micros = static_cast<std::uint64_t>(longest.count()) * 1000;
    return invalid("--run: killed, as it ran for more than " + duration_text(micros));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return invalid(WIFSIGNALED(status)
                     ? "--run: ended by signal " + std::to_string(WTERMSIG(status))
                     : "--run: ended with status " + std::to_string(WEXITSTATUS(status)));
}

}  // namespace tallyfs
