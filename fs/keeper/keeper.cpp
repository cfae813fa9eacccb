#include "fs/keeper/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace tallyfs {
namespace {

constexpr std::array kPassedOn = {SIGTERM, SIGINT, SIGHUP};

sigset_t taken() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : kPassedOn) ::sigaddset(&set, signal);
  ::sigaddset(&set, SIGUSR2);
  return set;
}

// The kernel kills the process with the highest score first. Any process may raise its own.
void set_oom_score(const char* score) {
  const Fd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  (void)!::write(file.get(), score, std::strlen(score));
}

bool is_by(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }

}  // namespace

void ToKeeper::say(Word word) const {
  (void)!::send(socket_.get(), &word, sizeof word, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::string ToKeeper::hear() const {
  std::array<char, ProgramCheck::kReasonMax + 64> bytes{};
  std::string last;
  for (;;) {
    const auto size = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size <= 0) return last;
    last.assign(bytes.data(), static_cast<std::size_t>(size));
  }
}

void ToKeeper::end_with_keeper() const {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != keeper_) ::_exit(1);
}

Keeper::Keeper(Handover& handover, Duties duties, Begin begin)
    : handover_(handover), duties_(std::move(duties)), was_ready_(begin == Begin::kReady) {}

void Keeper::avoid_oom_kill() { set_oom_score("-900"); }

int Keeper::run() {
  const sigset_t set = taken();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  signals_ = Fd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  Next next = signals_.valid() ? Next::kServer : give_up("no descriptor for signals");
  while (next != Next::kEnd) {
    if (next == Next::kProgram) {
      check_.stop();
      duties_.become_program();
    }
    const char* const fault = start();
    next = fault ? try_again(fault) : watch();
  }
  unmount();
  return exit_status_;
}

const char* Keeper::start() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0) {
    return failed("make a socket for the server");
  }
  words_ = Fd(ends[0]);
  Fd theirs(ends[1]);
  is_serving_ = false;
  has_handed_over_ = false;
  started_ = std::chrono::steady_clock::now();
  const pid_t keeper = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) return failed("fork");
  if (pid_ == 0) become_server(std::move(theirs), keeper);
  server_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (server_.valid()) return nullptr;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  return failed("watch the server");
}

// The system's reasons are fixed texts, unlike those of strerror().
const char* Keeper::failed(const char* what) {
  const char* const reason = ::strerrordesc_np(errno);
  std::snprintf(fault_.data(), fault_.size(), "cannot %s: %s", what, reason ? reason : "?");
  return fault_.data();
}

// In a process group of its own: a key of the terminal signals the keeper alone, which passes it
// on.
void Keeper::become_server(Fd socket, pid_t keeper) {
  words_.reset();
  signals_.reset();
  server_.reset();
  check_.forget();
  ::setpgid(0, 0);
  std::signal(SIGTTOU, SIG_IGN);
  const ToKeeper to_keeper(std::move(socket), keeper);
  to_keeper.end_with_keeper();
  set_oom_score("0");
  const sigset_t set = taken();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  std::exit(duties_.serve(to_keeper));
}

Keeper::Next Keeper::watch() {
  for (;;) {
    std::array<pollfd, 4> waited{{{.fd = server_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = signals_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = words_.get(), .events = POLLIN, .revents = 0},
                                  {.fd = check_.fd(), .events = POLLIN, .revents = 0}}};
    ::poll(waited.data(), waited.size(), check_.milliseconds_left());
    if (waited[1].revents != 0) take_signals();
    if (waited[2].revents != 0) take_words();
    if (waited[3].revents != 0 || check_.milliseconds_left() == 0) take_check();
    if (waited[0].revents == 0) continue;
    take_words();
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    return judge(status);
  }
}

void Keeper::take_signals() {
  signalfd_siginfo signal{};
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) {
    const int number = static_cast<int>(signal.ssi_signo);
    if (number == SIGUSR2) {
      start_check();
      continue;
    }
    is_ending_ |= number != SIGHUP;
    // A server that is stopped takes no signal but this. It comes first: when the server ends, it
    // would cancel the stop that LeakSanitizer waits for.
    if (is_ending_) ::syscall(SYS_pidfd_send_signal, server_.get(), SIGCONT, nullptr, 0);
    ::syscall(SYS_pidfd_send_signal, server_.get(), number, nullptr, 0);
  }
}

// One at a time; without the duty SIGUSR2 means nothing.
void Keeper::start_check() {
  if (!duties_.check_program || check_.is_running() || is_checked_) return;
  const char* const fault = check_.start([this] {
    const sigset_t set = taken();
    ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
    duties_.check_program();
  });
  if (fault) refuse(fault);
}

void Keeper::take_check() {
  const char* const fault = check_.finish();
  if (fault) return refuse(fault);
  is_checked_ = true;
  ask_to_hand_over();
}

// Before it serves, a server has no means to take the signal, nor at its end.
void Keeper::refuse(const char* reason) {
  duties_.refuses_program(reason);
  if (!is_serving_ || is_ending_) return;
  (void)!::send(words_.get(), reason, std::strlen(reason), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::syscall(SYS_pidfd_send_signal, server_.get(), SIGUSR1, nullptr, 0);
}

void Keeper::ask_to_hand_over() {
  if (!is_serving_ || is_ending_ || !std::exchange(is_checked_, false)) return;
  ::syscall(SYS_pidfd_send_signal, server_.get(), SIGUSR2, nullptr, 0);
}

void Keeper::take_words() {
  if (!words_.valid()) return;
  for (;;) {
    std::array<char, 2> word{};
    const auto size = ::recv(words_.get(), word.data(), word.size(), MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return;
    // 0: its end, and it can only end.
    if (size == 0) return words_.reset();
    take(size == 1 ? word[0] : '\0');
  }
}

void Keeper::take(char word) {
  switch (static_cast<ToKeeper::Word>(word)) {
    case ToKeeper::Word::kServing:
      is_serving_ = true;
      killed_ = 0;
      return ask_to_hand_over();
    case ToKeeper::Word::kReady:
      if (!std::exchange(was_ready_, true)) duties_.ready();
      return;
    case ToKeeper::Word::kEnding:
      is_ending_ = true;
      return unmount();
    case ToKeeper::Word::kHandedOver:
      has_handed_over_ = true;
      return;
  }
  ::kill(pid_, SIGKILL);
}

Keeper::Next Keeper::judge(int status) {
  const auto now = std::chrono::steady_clock::now();
  const bool is_killed = is_by(status, SIGKILL);
  const bool is_asked = is_ending_ && (is_by(status, SIGTERM) || is_by(status, SIGINT));
  exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : is_asked ? 0 : 1;
  const std::int64_t now_ns = now.time_since_epoch() / std::chrono::nanoseconds(1);
  if (has_handed_over_ && !is_ending_ && exit_status_ == 0) {
    handover_.note_reload(now_ns);
    return Next::kProgram;
  }
  if (is_ending_ || exit_status_ == 0 || !was_ready_) return Next::kEnd;
  if (duties_.is_gone()) {
    exit_status_ = 0;
    return Next::kEnd;
  }
  if (is_killed && !is_serving_) killed_ += 1;
  if (is_serving_ && now - started_ >= kSoundAfter) failures_ = 0;
  if (!is_killed) failures_ += 1;
  handover_.note_end(status, failures_, now_ns);
  if (failures_ >= kFailuresMax) return give_up("each server crashes");
  if (killed_ >= kKilledMax) return give_up("each server is killed before it serves");
  if (!is_killed && failures_ >= kFailuresSuspect) pause();
  return is_ending_ ? Next::kEnd : Next::kServer;
}

// Memory or processes may be short for a moment: that is often why the server before has ended.
Keeper::Next Keeper::try_again(const char* reason) {
  if (!was_ready_ || ++failures_ >= kFailuresMax) return give_up(reason);
  pause();
  return is_ending_ ? Next::kEnd : Next::kServer;
}

Keeper::Next Keeper::give_up(const char* reason) {
  duties_.gives_up(reason);
  exit_status_ = 1;
  return Next::kEnd;
}

void Keeper::pause() {
  server_.reset();
  const auto until = std::chrono::steady_clock::now() + kPause;
  while (!is_ending_) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    pollfd waited{.fd = signals_.get(), .events = POLLIN, .revents = 0};
    ::poll(&waited, 1, static_cast<int>(left.count()));
    take_signals();
  }
  exit_status_ = 0;
}

void Keeper::unmount() {
  if (std::exchange(is_mounted_, false)) duties_.unmount();
}

}  // namespace tallyfs
