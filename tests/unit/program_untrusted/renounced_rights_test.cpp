#include "program/untrusted/renounced_rights.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "core/base/fd.h"

namespace tallyfs {
namespace {

constexpr RenouncedBounds kBounds{.memory_bytes = std::size_t{256} << 20,
                                  .cpu_time = std::chrono::seconds(2)};

// What the process may do once it has given up its rights: a letter for each attempt.
std::string attempts(int kept) {
  const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (!renounce_rights({kept, 1}, kBounds)) return "not renounced";
  char byte = 0;
  std::string done;
  if (::pread(kept, &byte, 1, 0) == 1) done += 'r';
  const auto try_out = [&done](long result, char letter) {
    if (result >= 0) done += letter;
  };
  const auto has_memory = [](std::size_t bytes) {
    return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
           MAP_FAILED;
  };
  if (has_memory(2 * kBounds.memory_bytes)) done += 'M';
  if (has_memory(kBounds.memory_bytes / 2)) done += 'm';
  try_out(::pread(other, &byte, 1, 0), 'f');
  try_out(::open("/etc/passwd", O_RDONLY | O_CLOEXEC), 'o');
  try_out(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), 's');
  try_out(::fork(), 'k');
  try_out(::kill(::getppid(), 0), 'p');
  try_out(::setuid(0), 'u');
  return done;
}

TEST(RenouncedRightsTest, ReadsItsFilesAndNothingElse) {
  const Fd self(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const Fd in(ends[0]);
  Fd out(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out.get(), 1);
    const std::string done = attempts(self.get());
    (void)!::write(1, done.data(), done.size());
    ::_exit(0);
  }
  out.reset();
  std::string done(64, '\0');
  const auto size = ::read(in.get(), done.data(), done.size());
  done.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  rlimit seconds{};
  EXPECT_EQ(::prlimit(child, RLIMIT_CPU, nullptr, &seconds), 0);
  EXPECT_EQ(seconds.rlim_cur, static_cast<rlim_t>(kBounds.cpu_time.count()));
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(done, "rm") << "it reads its file, and has some memory";
}

}  // namespace
}  // namespace tallyfs
