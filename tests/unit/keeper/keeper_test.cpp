#include "fs/keeper/keeper.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <new>
#include <string>

#include "tests/unit/allocated.h"

namespace tallyfs {
namespace {

using Word = ToKeeper::Word;

// A keeper whose servers do as a test says. They end without the exit handlers of the test program.
class KeeperTest : public testing::Test {
 protected:
  // serve: gets the number of the server, from 0 on; returns its exit status.
  int keep(const std::function<int(std::uint64_t server, const ToKeeper&)>& serve) {
    Keeper keeper(handover_, {.serve = [&](const ToKeeper& to_keeper) -> int {
                                ::_exit(serve(handover_.servers(), to_keeper));
                              },
                              .ready = [this] { ready_ += 1; },
                              .unmount = [this] { unmounted_ += 1; },
                              .is_gone =
                                  [this] {
                                    allocated_ = allocated_bytes();
                                    if (allocated_first_ == 0) allocated_first_ = allocated_;
                                    return is_gone_;
                                  },
                              .gives_up =
                                  [this](const char* reason) {
                                    allocated_at_end_ = allocated_bytes();
                                    reason_ = reason;
                                  },
                              .check_program = [this] { check_(); },
                              .become_program = [this] { became_ += 1; },
                              .refuses_program =
                                  [this](const char* reason) {
                                    refused_ = reason;
                                    (void)!::write(told_[1], "", 1);
                                  }});
    return keeper.run();
  }
  static void begin(const ToKeeper& keeper) {
    keeper.say(Word::kServing);
    keeper.say(Word::kReady);
  }

  // A server takes the signal before it says that it serves.
  static sigset_t block(int signal) {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, signal);
    ::sigprocmask(SIG_BLOCK, &set, nullptr);
    return set;
  }

  // Sends the keeper a signal, and waits until it comes back. Returns that one.
  static int wait_for_signal(int signal, const ToKeeper& keeper) {
    const sigset_t awaited = block(signal);
    begin(keeper);
    ::kill(::getppid(), signal);
    int got = 0;
    ::sigwait(&awaited, &got);
    return got;
  }
  // Asks for another program, and waits until the keeper passes that on.
  static void wait_for_reload(const ToKeeper& keeper) { (void)wait_for_signal(SIGUSR2, keeper); }

  // Asks for a program that refuses, and waits until the keeper is told.
  bool ask_in_vain() const {
    ::kill(::getppid(), SIGUSR2);
    char byte = 0;
    return ::read(told_[0], &byte, 1) == 1;
  }
  // A server that is left alone ends with 0.
  int keep_one_that_asks_in_vain() {
    EXPECT_EQ(::pipe(told_), 0);
    return keep([this](auto, const ToKeeper& keeper) {
      (void)block(SIGUSR1);
      begin(keeper);
      return ask_in_vain() ? 0 : 1;
    });
  }

  Handover handover_ = Handover::create().value();
  // In the keeper, at the first and at the last end of a server that was not to end.
  std::size_t allocated_first_ = 0;
  std::size_t allocated_ = 0;
  std::size_t allocated_at_end_ = 0;  // when it gives up
  std::function<void()> check_ = [] {
    ProgramCheck::answer("1");
    ::_exit(0);
  };
  int became_ = 0;
  std::string refused_;
  int told_[2] = {-1, -1};
  int ready_ = 0;
  int unmounted_ = 0;
  bool is_gone_ = false;
  std::string reason_;
};

TEST_F(KeeperTest, EndsWithItsServer) {
  EXPECT_EQ(keep([](auto, const ToKeeper& keeper) {
              begin(keeper);
              return 0;
            }),
            0);
  EXPECT_EQ(handover_.servers(), 0u);
  EXPECT_EQ(ready_, 1);
  EXPECT_EQ(unmounted_, 1);
}

TEST_F(KeeperTest, ReplacesServersThatAreKilledHoweverMany) {
  EXPECT_EQ(keep([](std::uint64_t server, const ToKeeper& keeper) {
              begin(keeper);
              if (server < 150) ::raise(SIGKILL);
              return 0;
            }),
            0);
  EXPECT_EQ(handover_.servers(), 150u);
  EXPECT_EQ(handover_.failures(), 0);
  EXPECT_EQ(ready_, 1) << "it is told once";
  EXPECT_EQ(unmounted_, 1);
}

TEST_F(KeeperTest, AllocatesNothingAfterItsStart) {
  EXPECT_EQ(keep([](std::uint64_t server, const ToKeeper& keeper) {
              begin(keeper);
              if (server == 5) {
                wait_for_reload(keeper);
                keeper.say(Word::kHandedOver);
                return 0;
              }
              if (server < 10) ::raise(server == 1 || server == 9 ? SIGTERM : SIGKILL);
              return 0;
            }),
            0);
  EXPECT_EQ(handover_.servers(), 10u);
  EXPECT_EQ(became_, 1);
  EXPECT_EQ(allocated_, allocated_first_);
}

TEST_F(KeeperTest, GivesUpWithoutAllocationIfNoServerCanBeStarted) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  // As many as are polled, and open all the time.
  const rlimit none{.rlim_cur = 4, .rlim_max = before.rlim_max};
  EXPECT_EQ(keep([&](auto, const ToKeeper& keeper) {
              // It comes back when the keeper has all descriptors for this server.
              (void)wait_for_signal(SIGHUP, keeper);
              ::prlimit(::getppid(), RLIMIT_NOFILE, &none, nullptr);
              ::raise(SIGKILL);
              return 0;
            }),
            1);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(reason_, "cannot make a socket for the server: Too many open files");
  EXPECT_EQ(allocated_at_end_, allocated_first_);
}

TEST_F(KeeperTest, ReplacesAServerThatFails) {
  EXPECT_EQ(keep([](std::uint64_t server, const ToKeeper& keeper) {
              begin(keeper);
              return server == 0 ? 3 : 0;
            }),
            0);
  EXPECT_EQ(handover_.servers(), 1u);
  EXPECT_EQ(handover_.failures(), 1);
}

TEST_F(KeeperTest, FailsWithTheFirstServerThatNeverBecomesReady) {
  EXPECT_EQ(keep([](auto, const ToKeeper& keeper) {
              keeper.say(Word::kServing);
              return 4;
            }),
            4);
  EXPECT_EQ(ready_, 0);
  EXPECT_EQ(unmounted_, 1);
}

TEST_F(KeeperTest, GivesUpServersThatCrashInARow) {
  EXPECT_EQ(keep([](auto, const ToKeeper& keeper) {
              begin(keeper);
              return 1;
            }),
            1);
  EXPECT_EQ(handover_.servers(), static_cast<std::uint64_t>(Keeper::kFailuresMax));
  EXPECT_EQ(reason_, "each server crashes");
  EXPECT_EQ(unmounted_, 1);
}

TEST_F(KeeperTest, AKillNeitherCountsAsACrashNorEndsTheirRow) {
  EXPECT_EQ(keep([](std::uint64_t server, const ToKeeper& keeper) {
              begin(keeper);
              if (server % 2 == 1) ::raise(SIGKILL);
              return 1;
            }),
            1);
  // A kill after each crash but the last one.
  EXPECT_EQ(handover_.servers(), static_cast<std::uint64_t>(2 * Keeper::kFailuresMax - 1));
  EXPECT_EQ(reason_, "each server crashes");
}

TEST_F(KeeperTest, GivesUpServersThatAreKilledBeforeTheyServe) {
  EXPECT_EQ(keep([](std::uint64_t server, const ToKeeper& keeper) {
              if (server == 0) begin(keeper);
              ::raise(SIGKILL);
              return 0;
            }),
            1);
  EXPECT_EQ(handover_.servers(), static_cast<std::uint64_t>(Keeper::kKilledMax) + 1);
  EXPECT_EQ(reason_, "each server is killed before it serves");
}

TEST_F(KeeperTest, EndsWhenTheMountIsGone) {
  is_gone_ = true;
  EXPECT_EQ(keep([](auto, const ToKeeper& keeper) {
              begin(keeper);
              ::raise(SIGKILL);
              return 0;
            }),
            0);
  EXPECT_EQ(handover_.servers(), 0u);
}

TEST_F(KeeperTest, PassesASignalOn) {
  EXPECT_EQ(keep([](auto, const ToKeeper& keeper) {
              const int got = wait_for_signal(SIGTERM, keeper);
              keeper.say(Word::kEnding);
              return got == SIGTERM ? 0 : 1;
            }),
            0);
  EXPECT_EQ(handover_.servers(), 0u);
  EXPECT_EQ(unmounted_, 1);
}

TEST_F(KeeperTest, DoesNotReplaceAServerThatDiesWhileItEnds) {
  EXPECT_EQ(keep([](auto, const ToKeeper& keeper) {
              begin(keeper);
              keeper.say(Word::kEnding);
              ::raise(SIGKILL);
              return 0;
            }),
            1);
  EXPECT_EQ(handover_.servers(), 0u);
}

TEST_F(KeeperTest, KillsAServerThatSaysAnythingElse) {
  EXPECT_EQ(keep([](std::uint64_t server, const ToKeeper& keeper) {
              begin(keeper);
              if (server != 0) return 0;
              keeper.say(static_cast<Word>('?'));
              for (;;) ::pause();
            }),
            0);
  EXPECT_EQ(handover_.servers(), 1u);
  EXPECT_TRUE(WIFSIGNALED(handover_.status()) && WTERMSIG(handover_.status()) == SIGKILL);
}

TEST_F(KeeperTest, GoesOnWithAnotherProgramWhenItsServerHasHandedOver) {
  // The program cannot be executed here, so that this one goes on.
  EXPECT_EQ(keep([](std::uint64_t server, const ToKeeper& keeper) {
              if (server != 0) return 0;
              wait_for_reload(keeper);
              keeper.say(Word::kHandedOver);
              return 0;
            }),
            0);
  EXPECT_EQ(became_, 1);
  EXPECT_EQ(refused_, "");
  EXPECT_EQ(handover_.servers(), 1u);
  EXPECT_EQ(handover_.reloads(), 1u);
  EXPECT_TRUE(handover_.was_reload());
}

// It was asked a second time meanwhile, and the program has not answered yet.
TEST_F(KeeperTest, LeavesNoProgramBehindThatIsAskedWhenItBecomesAnother) {
  struct Asked {
    std::atomic<int> times{0};
    std::atomic<pid_t> last{0};
  };
  void* const memory =
      ::mmap(nullptr, sizeof(Asked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Asked& asked = *new (memory) Asked;
  check_ = [&asked] {
    if (asked.times++ == 0) {
      ProgramCheck::answer("1");
      ::_exit(0);
    }
    asked.last = ::getpid();
    for (;;) ::pause();
  };
  EXPECT_EQ(keep([&asked](std::uint64_t server, const ToKeeper& keeper) {
              if (server != 0) return 0;
              wait_for_reload(keeper);
              ::kill(::getppid(), SIGUSR2);
              while (asked.last == 0) ::usleep(1000);
              keeper.say(Word::kHandedOver);
              return 0;
            }),
            0);
  EXPECT_EQ(became_, 1);
  const pid_t last = asked.last;
  EXPECT_NE(::kill(last, 0), 0) << "it is still there";
  if (::kill(last, SIGKILL) == 0) ::waitpid(last, nullptr, 0);
  ::munmap(memory, sizeof(Asked));
}

TEST_F(KeeperTest, ReplacesAServerThatDiesWhileItHandsOver) {
  EXPECT_EQ(keep([](std::uint64_t server, const ToKeeper& keeper) {
              if (server != 0) return 0;
              wait_for_reload(keeper);
              ::raise(SIGKILL);
              return 0;
            }),
            0);
  EXPECT_EQ(became_, 0);
  EXPECT_EQ(handover_.servers(), 1u);
  EXPECT_EQ(handover_.reloads(), 0u);
  EXPECT_FALSE(handover_.was_reload());
}

TEST_F(KeeperTest, LeavesAServerAloneWhenTheProgramRefuses) {
  check_ = [] { ::_exit(7); };
  EXPECT_EQ(keep_one_that_asks_in_vain(), 0);
  EXPECT_EQ(refused_, "it ended with status 7");
  EXPECT_EQ(became_, 0);
  EXPECT_EQ(handover_.servers(), 0u);
}

// As /bin/true does, and a script that says another thing.
TEST_F(KeeperTest, LeavesAServerAloneWhenTheProgramDoesNotAnswer) {
  check_ = [] {
    (void)!::write(STDOUT_FILENO, "tallyfs 1\n", 10);
    ::_exit(0);
  };
  EXPECT_EQ(keep_one_that_asks_in_vain(), 0);
  EXPECT_EQ(refused_, "it is no tallyfs that can go on: it ended with status 0 and did not answer");
  EXPECT_EQ(handover_.servers(), 0u);
}

TEST_F(KeeperTest, TellsTheServerThatTheProgramRefuses) {
  check_ = [] { ::_exit(7); };
  EXPECT_EQ(keep([](auto, const ToKeeper& keeper) {
              const sigset_t awaited = block(SIGUSR1);
              begin(keeper);
              ::kill(::getppid(), SIGUSR2);
              int got = 0;
              const bool is_told = ::sigwait(&awaited, &got) == 0;
              return is_told && keeper.hear() == "it ended with status 7" ? 0 : 1;
            }),
            0);
  EXPECT_EQ(handover_.servers(), 0u);
}

// Which would kill it: it takes no more signals.
TEST_F(KeeperTest, TellsNothingToAServerThatEnds) {
  check_ = [] { ::_exit(7); };
  ASSERT_EQ(::pipe(told_), 0);
  EXPECT_EQ(keep([this](auto, const ToKeeper& keeper) {
              begin(keeper);
              keeper.say(Word::kEnding);
              // At the second answer, a signal after the first one has been sent.
              return ask_in_vain() && ask_in_vain() ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace tallyfs
