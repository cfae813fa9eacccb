// Real processes, which a test begins and ends.
#include "feeders/intake/process_ends.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/fd.h"

namespace tallyfs {
namespace {

// A program of its own: a fork of this one costs 40 ms beside AddressSanitizer.
class Child {
 public:
  Child() {
    const std::array<const char*, 6> words = {"setpriv", "--pdeathsig", "KILL",
                                              "sleep",   "infinity",    nullptr};
    pid_t spawned = 0;
    const int failed = ::posix_spawnp(&spawned, words[0], nullptr, nullptr,
                                      const_cast<char* const*>(words.data()), environ);
    EXPECT_EQ(failed, 0);
    if (failed == 0) pid_ = spawned;
  }
  ~Child() { end(); }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Child& operator=(Child&&) = delete;

  pid_t pid() const { return pid_; }
  void kill() const {
    if (pid_ > 0) ::kill(pid_, SIGKILL);  // other numbers mean other things to kill(2)
  }
  // Kills it and takes it away; no process has its number any more.
  void end() {
    if (pid_ <= 0) return;
    kill();
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  pid_t pid_ = 0;  // 0: none (any more)
};

class ProcessEndsTest : public testing::Test {
 protected:
  // Runs the loop until so many ends were heard of.
  void hear(std::size_t ends) {
    wanted_ = ends;
    if (ended_.size() < ends) loop_.run([](int) {});
    EXPECT_EQ(ended_.size(), ends);
  }

  EventLoop loop_;
  std::vector<pid_t> ended_;
  std::size_t wanted_ = 0;
  ProcessEnds processes_{loop_, ::geteuid(), [this](const Sender& process) {
                           ended_.push_back(process.pid);
                           if (at_end_) at_end_();
                           if (ended_.size() >= wanted_) loop_.stop();
                           return again_-- > 0 ? ProcessEnds::Heard::kAgain
                                               : ProcessEnds::Heard::kDone;
                         }};
  int again_ = 0;
  std::function<void()> at_end_;
};

TEST_F(ProcessEndsTest, HearsOfAnEndOnceHoweverOftenItWasAsked) {
  const Child child;
  ASSERT_TRUE(processes_.watch(child.pid(), 0));
  ASSERT_TRUE(processes_.watch(child.pid(), 0));
  EXPECT_TRUE(processes_.watches(child.pid()));
  child.kill();
  hear(1);
  EXPECT_EQ(ended_, std::vector<pid_t>{child.pid()});
  EXPECT_FALSE(processes_.watches(child.pid()));
}

TEST_F(ProcessEndsTest, HearsOfAnEndUntilAllOfItIsDoneInTurnWithOtherWork) {
  const Child child;
  ASSERT_TRUE(processes_.watch(child.pid(), 0));
  again_ = 3;
  std::size_t ends_before_other_work = 0;
  const std::function<void()> work = [&] {
    if (ends_before_other_work == 0) ends_before_other_work = ended_.size();
    if (ended_.size() < 4) loop_.post(work);
  };
  work();
  child.kill();
  hear(4);
  EXPECT_GT(ends_before_other_work, 0u);
  EXPECT_LT(ends_before_other_work, 4u);
  EXPECT_FALSE(processes_.watches(child.pid()));
}

// Its number is given to the next one here by what a server before has left.
TEST_F(ProcessEndsTest, RefusesAProcessWithTheNumberOfOneWhoseEndIsNotOver) {
  const Child next;
  Child before;
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, before.pid(), 0)));
  before.end();
  std::string bytes;
  ByteWriter out(bytes);
  out.put(std::int32_t{next.pid()});
  out.put(std::uint32_t{0});
  out.put(std::uint32_t{0});
  TransferredFds::Received received;
  received.emplace_back(0, std::move(pidfd));
  TransferredFds descriptors(nullptr, std::move(received));
  ASSERT_TRUE(processes_.load(saved_object(SavedKind::kProcesses, 1, "processes", bytes),
                              {.has_pages = true}, descriptors));
  again_ = 1;
  at_end_ = [&] {
    const auto refused = processes_.watch(next.pid(), 0);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kBusy);
  };
  hear(2);
  EXPECT_TRUE(processes_.watch(next.pid(), 0));
  EXPECT_TRUE(processes_.watches(next.pid()));
}

// What goes with a process would stay for ever.
TEST_F(ProcessEndsTest, AProcessWhoseDescriptorIsLostIsWatchedByItsNumberOrHasEnded) {
  const Child lives;
  Child gone;
  const pid_t ended = gone.pid();
  gone.end();
  std::string bytes;
  ByteWriter out(bytes);
  for (const pid_t each : {lives.pid(), ended}) {
    out.put(std::int32_t{each});
    out.put(std::uint32_t{0});
    out.put(std::uint32_t{5});
  }
  TransferredFds descriptors;
  EXPECT_FALSE(processes_.load(saved_object(SavedKind::kProcesses, 1, "processes", bytes),
                               {.has_pages = true}, descriptors));
  ASSERT_TRUE(processes_.watches(lives.pid()));
  hear(1);
  EXPECT_EQ(ended_, std::vector<pid_t>{ended});
}

// They come behind those that live, whose uid may have no room left.
TEST_F(ProcessEndsTest, AProcessThatHasEndedNeedsNoRoomInTheNextServer) {
  constexpr uid_t kGreedy = 1000;
  constexpr pid_t kFirst = 4'000'000;  // their numbers, which say nothing here
  const Child lives;
  Child gone;
  const Fd alive(static_cast<int>(::syscall(SYS_pidfd_open, lives.pid(), 0)));
  Fd over(static_cast<int>(::syscall(SYS_pidfd_open, gone.pid(), 0)));
  gone.end();
  std::string bytes;
  ByteWriter out(bytes);
  TransferredFds::Received received;
  for (std::uint32_t i = 0; i <= ProcessEnds::kProcessesOfUidMax; ++i) {
    out.put(std::int32_t{kFirst + static_cast<pid_t>(i)});
    out.put(std::uint32_t{kGreedy});
    out.put(i);
    const bool is_last = i == ProcessEnds::kProcessesOfUidMax;
    received.emplace_back(i, is_last ? std::move(over) : Fd(::dup(alive.get())));
  }
  TransferredFds descriptors(nullptr, std::move(received));
  const auto loaded =
      processes_.load(saved_object(SavedKind::kProcesses, 1, "processes", bytes),
                      {.has_pages = true}, descriptors);
  EXPECT_TRUE(loaded) << loaded.error().reason;
  hear(1);
  EXPECT_EQ(ended_.front(), kFirst + static_cast<pid_t>(ProcessEnds::kProcessesOfUidMax));
}

TEST_F(ProcessEndsTest, HearsOfWhatHadEndedButWasNotWaitedForYet) {
  const Child child;
  child.kill();
  siginfo_t state{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child.pid()), &state, WEXITED | WNOWAIT), 0);
  ASSERT_TRUE(processes_.watch(child.pid(), 0));
  hear(1);
}

TEST_F(ProcessEndsTest, RefusesAProcessThatIsGoneOrCannotBeSeen) {
  Child child;
  const pid_t gone = child.pid();
  child.end();
  for (const pid_t process : {gone, 0}) {
    const auto refused = processes_.watch(process, 0);
    ASSERT_FALSE(refused) << process;
    EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
    EXPECT_EQ(refused.error().reason,
              "process " + std::to_string(process) + " cannot be seen from here");
    EXPECT_FALSE(processes_.watches(process));
  }
}

TEST_F(ProcessEndsTest, GivesItsDescriptorsBack) {
  const int next_before = Fd(::dup(0)).get();
  std::vector<Child> children(5);
  for (const Child& child : children) ASSERT_TRUE(processes_.watch(child.pid(), 0));
  EXPECT_NE(Fd(::dup(0)).get(), next_before);
  children.clear();
  hear(5);
  EXPECT_EQ(Fd(::dup(0)).get(), next_before);
}

TEST_F(ProcessEndsTest, WatchesABoundedNumber) {
  std::vector<Child> children(ProcessEnds::kProcessesMax + 1);
  for (std::size_t i = 0; i < ProcessEnds::kProcessesMax; ++i) {
    if (const auto done = processes_.watch(children[i].pid(), 0); !done) {
      GTEST_SKIP() << done.error().reason;
    }
  }
  const int next_before = Fd(::dup(0)).get();
  const auto refused = processes_.watch(children.back().pid(), 0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  EXPECT_EQ(Fd(::dup(0)).get(), next_before);
  EXPECT_TRUE(processes_.watch(children.front().pid(), 0)) << "which is watched already";
  children.front().kill();
  hear(1);
  EXPECT_TRUE(processes_.watch(children.back().pid(), 0));
}

TEST_F(ProcessEndsTest, NoUidCanHaveAllThePlaces) {
  constexpr uid_t kGreedy = 1000;
  std::vector<Child> children(ProcessEnds::kProcessesOfUidMax + 1);
  for (std::size_t i = 0; i < ProcessEnds::kProcessesOfUidMax; ++i) {
    ASSERT_TRUE(processes_.watch(children[i].pid(), kGreedy));
  }
  const auto refused = processes_.watch(children.back().pid(), kGreedy);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  EXPECT_NE(refused.error().reason.find("256 processes of uid 1000"), std::string::npos);
  EXPECT_TRUE(processes_.watch(children.back().pid(), kGreedy + 1));
}

TEST_F(ProcessEndsTest, ThreadsMayAskConcurrentlyWhileTheLoopRuns) {
  constexpr std::size_t kChildren = 40;
  std::vector<Child> children(kChildren);
  wanted_ = kChildren;
  std::thread loop([&] { loop_.run([](int) {}); });
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (const Child& child : children) EXPECT_TRUE(processes_.watch(child.pid(), 0));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Child& child : children) child.kill();
  loop.join();
  EXPECT_EQ(ended_.size(), kChildren);
}

}  // namespace
}  // namespace tallyfs
