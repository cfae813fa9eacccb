// clock.h in signal handlers and forked children, on the machine's real clocks.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include "tally/clock.h"
#include "tests/unit/clock/status.h"

namespace {

// Whether a thread of this process has given itself that name.
bool has_begun(std::string_view thread) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    if (std::getline(std::ifstream(task.path() / "comm"), name) && name == thread) return true;
  }
  return false;
}

TEST(ClockSignalTest, AForkedChildGoesOnWithoutUpkeep) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer allows no thread in a forked child";
#endif
  ASSERT_EQ(tally_clock_start_upkeep(10), 0);
  // A thread that starts may hold a lock of AddressSanitizer's allocator, which the child would
  // find locked for ever.
  while (!has_begun("tally-clock")) std::this_thread::yield();
  const std::uint64_t before = sched_clock();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const bool good =
        sched_clock() >= before && status().has_thread == 0 && tally_clock_start_upkeep(10) == 0;
    tally_clock_stop_upkeep();
    _exit(good ? 0 : 1);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  EXPECT_EQ(ended, 0);
  tally_clock_stop_upkeep();
}

// As a daemon does that closes all it did not open.
TEST(ClockSignalTest, AThreadWhoseDescriptorsAreClosedIsNotThereAnyMore) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer allows no thread in a forked child";
#endif
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    tally_clock_start_upkeep(10);
    while (status().has_thread == 0) std::this_thread::yield();
    for (int fd = 3; fd < 64; ++fd) close(fd);
    while (status().has_thread != 0) std::this_thread::yield();
    _exit(tally_clock_start_upkeep(10) == 0 && status().has_thread == 1 ? 0 : 1);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  EXPECT_EQ(ended, 0);
}

std::atomic<std::uint64_t> g_latest{0};
std::atomic<int> g_signals{0};
std::atomic<int> g_signal_faults{0};

void look_at_clock(int) {
  const std::uint64_t seen = g_latest.load();
  const std::uint64_t now = sched_clock();
  fast_timestamp_t stamp;
  store_fast_timestamp(&stamp);
  if (now < seen || stamp.epoch == 0 || get_cycles() == 0) ++g_signal_faults;
  if (now > seen) g_latest = now;
  ++g_signals;
}

// Among them those that interrupt the laying of a new line, and a conversion.
TEST(ClockSignalTest, MayBeReadInSignalHandlers) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = &look_at_clock;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, &before);
  const itimerval often = {{0, 50}, {0, 50}};
  const itimerval never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  int faults = 0;
  while (g_signals < 200) {
    const std::uint64_t seen = g_latest.load();
    if (sched_clock() < seen) ++faults;
    tally_clock_upkeep();
    fast_timestamp_t stamp;
    timeval time;
    store_fast_timestamp(&stamp);
    if (fast_timestamp_to_timeval(&stamp, &time, nullptr) != 0) ++faults;
  }
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(faults, 0);
  EXPECT_EQ(g_signal_faults.load(), 0);
}

std::atomic<int> g_forks{0};
std::atomic<bool> g_is_child{false};

void fork_within(int) {
  if (g_is_child || g_forks >= 200) return;
  if (fork() == 0) g_is_child = true;
  ++g_forks;
}

// Among them those that interrupt a call with the clock's lock, while another thread converts. The
// child goes on with what was interrupted.
TEST(ClockSignalTest, MayBeForkedInSignalHandlers) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer allows no fork in a handler beside threads";
#endif
  std::atomic<bool> done{false};
  const auto use = [] {
    tally_clock_upkeep();
    fast_timestamp_t stamp;
    timeval time;
    store_fast_timestamp(&stamp);
    if (sched_clock() == 0) return false;
    // A fork may last longer than the anchors reach back that the other thread lays meanwhile.
    const int error = fast_timestamp_to_timeval(&stamp, &time, nullptr);
    return error == 0 || error == -ERANGE;
  };
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
  std::thread other([&] {
    while (!done) use();
  });
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = &fork_within;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, &before);
  pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
  const itimerval often = {{0, 1000}, {0, 1000}};
  const itimerval never{};
  setitimer(ITIMER_REAL, &often, nullptr);
  int faults = 0;
  while (g_forks < 200 && !g_is_child) faults += !use();
  if (g_is_child) _exit(use() && use() ? 0 : 1);
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  done = true;
  other.join();
  int ended = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_GT(waitpid(-1, &ended, 0), 0);
    EXPECT_EQ(ended, 0);
  }
  EXPECT_EQ(faults, 0);
}

}  // namespace
