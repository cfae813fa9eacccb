// What a server can do behind its filter. Each look is in a process of its own, as the filter is
// for ever.
#include "fs/daemon/system_call_filter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <thread>

namespace tallyfs {
namespace {

// The errno of a call behind the filter; 0: it succeeded.
int behind_the_filter(const std::function<long()>& call) {
  constexpr int kNoFilter = 255;
  const pid_t child = ::fork();
  if (child == 0) {
    if (!forbid_unneeded_calls()) ::_exit(kNoFilter);
    ::_exit(call() < 0 ? errno : 0);
  }
  int status = 0;
  EXPECT_EQ(child, ::waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_NE(kNoFilter, WEXITSTATUS(status));
  return WEXITSTATUS(status);
}

// Without the filter none of these fails with EPERM, to root.
TEST(SystemCallFilterTest, ForbidsWhatServingDoesNotNeed) {
  char* nothing[] = {nullptr};
  const auto execute = [&] { return ::execve("/nonexistent", nothing, nothing); };
  const auto execute_from = [&] {
    return ::syscall(SYS_execveat, -1, "/nonexistent", nothing, nothing, 0);
  };
  EXPECT_EQ(EPERM, behind_the_filter(execute));
  EXPECT_EQ(EPERM, behind_the_filter(execute_from));
  EXPECT_EQ(EPERM, behind_the_filter([] { return ::mount("", "/nonexistent", "tmpfs", 0, ""); }));
  EXPECT_EQ(EPERM, behind_the_filter([] { return ::umount2("/nonexistent", 0); }));
  EXPECT_EQ(EPERM, behind_the_filter([] { return ::unshare(0); }));
  EXPECT_EQ(EPERM, behind_the_filter([] {
              return ::syscall(SYS_clone, CLONE_NEWUTS | SIGCHLD, 0, 0, 0, 0);
            }));
  EXPECT_EQ(EPERM, behind_the_filter([] { return ::setuid(::getuid()); }));
  EXPECT_EQ(EPERM, behind_the_filter([] { return ::chroot("/nonexistent"); }));
  EXPECT_EQ(EPERM, behind_the_filter([] { return ::syscall(SYS_bpf, -1, nullptr, 0); }));
  for (const int family : {AF_INET, AF_INET6, AF_PACKET, AF_MAX - 1, AF_MAX, AF_MAX + 1, 1 << 20}) {
    EXPECT_EQ(EPERM, behind_the_filter([&] { return ::socket(family, SOCK_DGRAM, 0); })) << family;
  }
}

TEST(SystemCallFilterTest, AllowsWhatServingNeeds) {
  EXPECT_EQ(0, behind_the_filter([] { return ::socket(AF_UNIX, SOCK_DGRAM, 0); }));
  EXPECT_EQ(0, behind_the_filter([] { return ::socket(AF_NETLINK, SOCK_RAW, 0); }));
  EXPECT_EQ(0, behind_the_filter([] { return ::open("/proc/self/status", O_RDONLY); }));
  EXPECT_EQ(0, behind_the_filter([] { return ::syscall(SYS_pidfd_open, ::getpid(), 0); }));
  const auto forbidden_in_a_thread = [] {
    int error = 0;
    std::thread([&] { error = ::unshare(0) < 0 ? errno : 0; }).join();
    if (error == EPERM) return 0L;
    errno = error != 0 ? error : EINVAL;
    return -1L;
  };
  EXPECT_EQ(0, behind_the_filter(forbidden_in_a_thread));
}

}  // namespace
}  // namespace tallyfs
