#include "fs/keeper/program_check.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>

namespace tallyfs {
namespace {

constexpr std::string_view kAnswer = "tallyfs can go on: version ";
// Before errno, where the program cannot be executed.
constexpr char kNotExecuted = '\0';
// The longest text about the end of a process.
constexpr std::size_t kEndMax = 48;

// The system's reasons are fixed texts, unlike those of strerror().
const char* reason_of(int error) {
  const char* const reason = ::strerrordesc_np(error);
  return reason ? reason : "?";
}

// A pipe whose end `ours` never blocks this process, nor the other one a program that says more
// than is read.
bool make_pipe(Fd& ours, Fd& theirs) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  ours = Fd(ends[0]);
  theirs = Fd(ends[1]);
  return true;
}

// The first line of what was read, as one of a log: without the name of the program.
std::string_view first_line(std::span<char> bytes) {
  constexpr std::string_view kName = "tallyfs: ";
  for (char& each : bytes) {
    const bool is_shown = static_cast<unsigned char>(each) >= ' ' && each != '\x7f';
    if (!is_shown && each != '\n') each = '?';
  }
  std::string_view text(bytes.data(), bytes.size());
  text = text.substr(0, text.find('\n'));
  if (text.starts_with(kName)) text.remove_prefix(kName.size());
  return text;
}

// In a process group of its own, so that what a script starts is killed with it.
[[noreturn]] void ask(int output, int errors, const std::function<void()>& execute) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  for (const int fd : {STDOUT_FILENO, STDERR_FILENO}) ::fcntl(fd, F_SETFD, 0);
  execute();
  const int error = errno;
  std::array<char, 1 + sizeof error> text{kNotExecuted};
  std::memcpy(text.data() + 1, &error, sizeof error);
  (void)!::write(STDOUT_FILENO, text.data(), text.size());
  ::_exit(1);
}

// A keeper of a version that takes the exit status for the answer has its own stdout here.
bool is_awaited() {
  struct stat own {}, keepers {};
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/fd/%d", ::getppid(), STDOUT_FILENO);
  if (::fstat(STDOUT_FILENO, &own) != 0 || ::stat(path.data(), &keepers) != 0) return true;
  return own.st_dev != keepers.st_dev || own.st_ino != keepers.st_ino;
}

}  // namespace

void ProgramCheck::answer(const char* version) {
  if (!is_awaited()) return;
  std::array<char, kAnswerMax> text{};
  const int size = std::snprintf(text.data(), text.size(), "%s%s\n", kAnswer.data(), version);
  (void)!::write(STDOUT_FILENO, text.data(),
                 std::min(static_cast<std::size_t>(size), text.size() - 1));
}

const char* ProgramCheck::start(const std::function<void()>& execute) {
  Fd output, errors;
  const bool is_made = make_pipe(output_, output) && make_pipe(errors_, errors);
  if (!is_made) return failed("it cannot be asked: ", reason_of(errno));
  pid_ = ::fork();
  if (pid_ < 0) return failed("it cannot be asked: ", reason_of(errno));
  if (pid_ == 0) ask(output.get(), errors.get(), execute);
  ::setpgid(pid_, pid_);
  end_ = std::chrono::steady_clock::now() + kMax;
  process_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (process_.valid()) return nullptr;
  const int error = errno;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  return failed("it cannot be watched: ", reason_of(error));
}

int ProgramCheck::milliseconds_left() const {
  if (!is_running()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(
      end_ - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
}

const char* ProgramCheck::finish() {
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT);
  const bool is_late = ended.si_pid == 0;
  if (is_late) ::kill(-pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  process_.reset();
  const char* const fault = is_late ? "it did not answer in time, and was killed" : judge(status);
  output_.reset();
  errors_.reset();
  return fault;
}

void ProgramCheck::stop() {
  if (is_running()) (void)finish();
}

void ProgramCheck::forget() {
  process_.reset();
  output_.reset();
  errors_.reset();
}

const char* ProgramCheck::judge(int status) {
  std::array<char, kAnswerMax> bytes{};
  const ssize_t size = ::read(output_.get(), bytes.data(), bytes.size());
  const std::string_view said(bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  if (WIFSIGNALED(status)) {
    const char* const name = ::sigabbrev_np(WTERMSIG(status));
    std::array<char, kEndMax> end{};
    std::snprintf(end.data(), end.size(), "it was ended by SIG%s", name ? name : "?");
    return refused(end.data());
  }
  if (int error = 0; said.size() == 1 + sizeof error && said[0] == kNotExecuted) {
    std::memcpy(&error, said.data() + 1, sizeof error);
    return failed("it cannot be executed: ", reason_of(error));
  }
  if (status != 0) {
    std::array<char, kEndMax> end{};
    std::snprintf(end.data(), end.size(), "it ended with status %d", WEXITSTATUS(status));
    return refused(end.data());
  }
  if (said.starts_with(kAnswer)) return nullptr;
  return "it is no tallyfs that can go on: it ended with status 0 and did not answer";
}

const char* ProgramCheck::refused(const char* end) {
  std::array<char, kReasonMax> bytes{};
  const ssize_t size = ::read(errors_.get(), bytes.data(), bytes.size());
  const std::string_view said =
      first_line({bytes.data(), size > 0 ? static_cast<std::size_t>(size) : 0});
  std::snprintf(fault_.data(), fault_.size(), "%s%s%.*s", end, said.empty() ? "" : ": ",
                static_cast<int>(said.size()), said.data());
  return fault_.data();
}

const char* ProgramCheck::failed(const char* what, const char* reason) {
  std::snprintf(fault_.data(), fault_.size(), "%s%s", what, reason);
  return fault_.data();
}

}  // namespace tallyfs
