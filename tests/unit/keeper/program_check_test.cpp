#include "fs/keeper/program_check.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <string>

namespace tallyfs {
namespace {

// Empty: the program can go on.
std::string ask(const std::function<void()>& execute) {
  ProgramCheck check;
  if (const char* const fault = check.start(execute)) return fault;
  pollfd waited{.fd = check.fd(), .events = POLLIN, .revents = 0};
  ::poll(&waited, 1, check.milliseconds_left());
  const char* const fault = check.finish();
  EXPECT_FALSE(check.is_running());
  return fault ? fault : "";
}

TEST(ProgramCheckTest, TakesOneThatAnswersAndEnds) {
  EXPECT_EQ(ask([] {
              ProgramCheck::answer("1.2.3");
              ::_exit(0);
            }),
            "");
}

TEST(ProgramCheckTest, RefusesOneThatAnswersAndFails) {
  EXPECT_EQ(ask([] {
              ProgramCheck::answer("1.2.3");
              ::_exit(3);
            }),
            "it ended with status 3");
}

TEST(ProgramCheckTest, SaysWhatOneThatRefusesSaysFirst) {
  const auto refuse = [](const char* text) {
    return ask([text] { ::execl("/bin/sh", "sh", "-c", text, nullptr); });
  };
  EXPECT_EQ(refuse("echo tallyfs: no rules >&2; echo more >&2; exit 1"),
            "it ended with status 1: no rules");
  EXPECT_EQ(refuse("printf 'a\\tb\\033' >&2; exit 2"), "it ended with status 2: a?b?");
  EXPECT_EQ(refuse("head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1"),
            "it ended with status 1: " + std::string(ProgramCheck::kReasonMax, 'x'));
}

TEST(ProgramCheckTest, NamesTheSignalThatEndsIt) {
  EXPECT_EQ(ask([] { ::raise(SIGKILL); }), "it was ended by SIGKILL");
}

TEST(ProgramCheckTest, SaysWhatOneThatASignalEndsSaysFirst) {
  EXPECT_EQ(ask([] {
              ::execl("/bin/sh", "sh", "-c",
                      "echo 'tallyfs: 2 locks in the wrong order' >&2; kill -KILL $$", nullptr);
            }),
            "it was ended by SIGKILL: 2 locks in the wrong order");
}

TEST(ProgramCheckTest, SaysWhyItCannotBeExecuted) {
  EXPECT_EQ(ask([] { errno = EACCES; }), "it cannot be executed: Permission denied");
  EXPECT_EQ(ask([] { ::execl("/nowhere/to/be/found", "", nullptr); }),
            "it cannot be executed: No such file or directory");
}

TEST(ProgramCheckTest, RefusesAProgramThatIsAnother) {
  EXPECT_EQ(ask([] { ::execl("/bin/sh", "sh", "-c", "echo tallyfs 1.2.3", nullptr); }),
            "it is no tallyfs that can go on: it ended with status 0 and did not answer");
}

// The child has the stdout of this process, as a keeper's before there was an answer.
TEST(ProgramCheckTest, SaysNothingToAKeeperThatAwaitsNoAnswer) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const int own = ::dup(STDOUT_FILENO);
  ::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[1]);
  const pid_t child = ::fork();
  if (child == 0) {
    ProgramCheck::answer("1.2.3");
    ::_exit(0);
  }
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  ::dup2(own, STDOUT_FILENO);
  ::close(own);
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  ::close(ends[0]);
}

// What a script has started is killed, too: the pipe has no other end then.
TEST(ProgramCheckTest, KillsOneThatIsLate) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  ProgramCheck check;
  ASSERT_EQ(check.start([&] {
    ::close(ends[0]);
    ::execl("/bin/sh", "sh", "-c", "sleep 1000; true", nullptr);
  }), nullptr);
  ::close(ends[1]);
  EXPECT_GT(check.milliseconds_left(), 0);
  EXPECT_STREQ(check.finish(), "it did not answer in time, and was killed");
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0);
  ::close(ends[0]);
}

}  // namespace
}  // namespace tallyfs
