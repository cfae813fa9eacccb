// A PID namespace for a test, and processes outside of it, which it sees as 0.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <new>

#include "core/base/fd.h"

namespace tallyfs {

inline pid_t fork_with_shared_descriptors() {
  std::fflush(nullptr);
  constexpr long kShares = CLONE_FILES | SIGCHLD;
  return static_cast<pid_t>(::syscall(SYS_clone, kShares, nullptr, nullptr, nullptr, nullptr));
}

// A process that has made some socketpairs. Each descriptor is there once.
class Outsider {
 public:
  static constexpr std::size_t kPairs = 3;

  Outsider() {
    EXPECT_EQ(::pipe2(orders_.data(), O_CLOEXEC), 0);
    void* const mapped = ::mmap(nullptr, sizeof(Pairs), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pairs_ = new (mapped) Pairs;
    std::array<int, 2> made{};
    EXPECT_EQ(::pipe2(made.data(), O_CLOEXEC), 0);
    pid_ = fork_with_shared_descriptors();
    if (pid_ == 0) make_pairs(made[1]);
    char byte = 0;
    EXPECT_EQ(::read(made[0], &byte, 1), 1);
    for (const int each : made) ::close(each);
  }
  ~Outsider() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(pairs_, sizeof(Pairs));
    for (const int each : orders_) ::close(each);
  }
  Outsider(const Outsider&) = delete;
  Outsider& operator=(const Outsider&) = delete;

  Fd ours(std::size_t pair) const { return Fd((*pairs_)[pair][0]); }
  Fd theirs(std::size_t pair) const { return Fd((*pairs_)[pair][1]); }
  // From inside of the namespace.
  void ask_for_end() const { EXPECT_EQ(::write(orders_[1], "x", 1), 1); }

 private:
  using Pairs = std::array<std::array<int, 2>, kPairs>;

  [[noreturn]] void make_pairs(int made) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (auto& pair : *pairs_) {
      ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair.data());
    }
    char byte = 'x';
    ::_exit(::write(made, &byte, 1) == 1 && ::read(orders_[0], &byte, 1) == 1 ? 0 : 1);
  }

  std::array<int, 2> orders_{};
  Pairs* pairs_ = nullptr;  // in memory that it shares with this one
  pid_t pid_ = 0;
};

// Calls body as the first process of a PID namespace. False: there is none without privileges.
template <typename Body>
[[nodiscard]] bool in_pid_namespace(Body body) {
  constexpr int kNone = 77;
  const pid_t made = fork_with_shared_descriptors();
  if (made == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::unshare(CLONE_NEWPID) != 0) ::_exit(kNone);
    const pid_t first = fork_with_shared_descriptors();
    if (first == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      body();
      std::fflush(nullptr);
      ::_exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 1;
    ::waitpid(first, &status, 0);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
  int status = 1;
  ::waitpid(made, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNone) return false;
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "in the namespace";
  return true;
}

}  // namespace tallyfs
