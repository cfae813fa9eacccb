// A feeder that does at random, for some seconds, what may disturb its cells and rings. Threads add
// and end, some within a call, and the next ones take over their cells. Statistics are defined,
// reset, removed and created again. Children of fork() add, fork and end. It may end in the middle
// of all that. What it adds is not checked: nothing of it may look like a fault.
//   tally-lane-load SEED SECONDS
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tally/statistic.h"

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kStatistics = 10;
constexpr std::int64_t kMax = 1000;

using Random = std::mt19937_64;
std::uint64_t below(Random& random, std::uint64_t end) { return random() % end; }

statistic_interface* web = nullptr;
std::array<statistic*, kStatistics> all{};
thread_local Random* own_random = nullptr;
bool threads_may_end = false;  // in handlers; the unwinding may end the process as well
volatile sig_atomic_t may_end_thread = 0;

std::string name(std::size_t i) { return "s" + std::to_string(i); }

void define(statistic* of, std::uint64_t type) {
  switch (type) {
    case 0:
      statistic_define_value(of, -kMax, kMax, STATISTIC_MODE_INCREMENTS);
      break;
    case 1:
      statistic_define_value(of, -kMax, kMax, STATISTIC_MODE_PRODUCTS);
      break;
    case 2:
      statistic_define_range(of, -kMax, kMax);
      break;
    case 3:
      statistic_define_array(of, -kMax, kMax, 100, STATISTIC_SCALE_LIN);
      break;
    case 4:
      statistic_define_array(of, 0, kMax, 1, STATISTIC_SCALE_LOG2);
      break;
    case 5:
      statistic_define_list(of, -kMax, kMax, 100);
      break;
    case 6:
      statistic_define_history(of, -kMax, kMax, 10, 1000, STATISTIC_MODE_RANGE);
      break;
    default:
      statistic_define_last(of, -kMax, kMax);
  }
}

void create(Random& random, std::size_t i) {
  statistic_create(&all[i], web, name(i).c_str(), nullptr);
  define(all[i], i % 8);
  if (below(random, 8) != 0) statistic_start(all[i]);
}

// Also beyond the range.
void add_some(Random& random) {
  statistic* const of = all[below(random, kStatistics)];
  for (std::uint64_t left = below(random, 5000); left != 0; --left) {
    const auto x = static_cast<std::int64_t>(below(random, 2 * kMax + 40)) - kMax - 20;
    statistic_add(of, x, below(random, 3));
  }
}

// Of a thread that adds: it may end here, in the middle of a call.
void on_signal(int) {
  statistic_add(all[0], 1, 1);
  if (own_random && may_end_thread != 0) pthread_exit(nullptr);
}

void* run_thread(void* seed) {
  Random random(reinterpret_cast<std::uintptr_t>(seed));
  own_random = &random;
  for (std::uint64_t left = 1 + below(random, 40); left != 0; --left) add_some(random);
  own_random = nullptr;
  return nullptr;
}

// Signals go to threads of now only: none is joined before.
void run_threads(Random& random) {
  std::vector<pthread_t> threads(1 + below(random, 4));
  for (pthread_t& each : threads) {
    if (pthread_create(&each, nullptr, run_thread, reinterpret_cast<void*>(random())) != 0) abort();
  }
  may_end_thread = threads_may_end && below(random, 4) == 0;
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(below(random, 500)));
    pthread_kill(threads[below(random, threads.size())], SIGUSR1);
  }
  for (const pthread_t each : threads) pthread_join(each, nullptr);
}

void change_one(Random& random) {
  const std::size_t i = below(random, kStatistics);
  switch (below(random, 6)) {
    case 0:
      statistic_remove(&all[i]);
      return create(random, i);
    case 1:
      statistic_release(&all[i]);
      return create(random, i);
    case 2:
      statistic_stop(all[i]);
      return;
    case 3:
      statistic_reset(all[i]);
      return;
    default:
      statistic_start(all[i]);
  }
}

[[noreturn]] void end(Random& random) {
  switch (below(random, 3)) {
    case 0:
      kill(getpid(), SIGKILL);
      [[fallthrough]];
    case 1:
      _exit(0);
    default:
      exit(0);
  }
}

void fork_one(Random& random, int depth) {
  const std::uint64_t seed = random();
  const pid_t child = fork();
  if (child == 0) {
    Random its(seed);
    for (std::uint64_t left = below(its, 20); left != 0; --left) add_some(its);
    if (depth < 2 && below(its, 3) == 0) fork_one(its, depth + 1);
    run_threads(its);
    end(its);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  Random random(std::strtoull(arguments[1], nullptr, 10));
  const auto until = Clock::now() + std::chrono::milliseconds(
                                        static_cast<int>(1000 * std::atof(arguments[2])));
  threads_may_end = below(random, 4) == 0;
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGUSR1, &action, nullptr);
  statistic_settings settings = STATISTIC_SETTINGS_DEFAULT;
  settings.delay_us = static_cast<unsigned>(below(random, 3)) * 1000;
  statistic_configure(&settings);
  statistic_create_interface(&web, "web", 0);
  for (std::size_t i = 0; i < kStatistics; ++i) create(random, i);
  while (Clock::now() < until) {
    run_threads(random);
    add_some(random);
    if (below(random, 4) == 0) change_one(random);
    if (below(random, 8) == 0) fork_one(random, 0);
    if (below(random, 8) == 0) statistic_sync(100);
  }
  end(random);
}
