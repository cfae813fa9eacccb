// Feeders that are killed with SIGKILL while they count in cells, or put samples into rings, ROUNDS
// of them one after the other. Each tells in memory that it shares with us how many calls it has
// begun and ended, and the statistic web/killed must have every sample of a call that was over, and
// none that was not begun.
//   tally-lane-killed ROUNDS DATA [list]
//   DATA: statistics/web/data of the mount; the socket is $TALLY_SOCKET. list: of that type, which
//   goes by rings; a call that waits in vain for the daemon ends the test.
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <thread>

#include "tally/statistic.h"

namespace {

struct Told {
  std::atomic<std::uint64_t> begun;
  std::atomic<std::uint64_t> ended;
  std::atomic<bool> counts;  // in cells
};

// The last sample was: else it is held for a while.
bool counts_in_lane() {
  statistic_counts counts{};
  statistic_count(&counts, sizeof counts);
  return counts.held == 0 && counts.added == counts.sent;
}

[[noreturn]] void feed(Told& told, bool as_list) {
  statistic_interface* interface = nullptr;
  statistic* killed = nullptr;
  if (statistic_create_interface(&interface, "web", 0) != 0) ::_exit(1);
  if (statistic_create(&killed, interface, "killed", nullptr) != 0) ::_exit(1);
  if (as_list) {
    statistic_define_list(killed, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX, 4);
  }
  statistic_start(killed);
  std::uint64_t added = 0;
  do {
    if (statistic_sync(60'000) != 0) ::_exit(1);
    statistic_inc(killed, 1);
    ++added;
  } while (!counts_in_lane());
  told.begun = added;
  told.ended = added;
  told.counts = true;
  for (;;) {
    told.begun.store(told.begun.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    statistic_inc(killed, 1);
    told.ended.store(told.ended.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
}

std::uint64_t total_of(const char* data) {
  std::ifstream file(data);
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("killed ")) return std::stoull(line.substr(line.rfind(' ') + 1));
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const int rounds = std::atoi(arguments[1]);
  const bool as_list = count > 3;
  statistic_settings settings = STATISTIC_SETTINGS_DEFAULT;
  settings.wait_ms = 60'000;
  void* const shared =
      ::mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& told = *new (shared) Told{};
  const auto seed = std::random_device{}();
  std::mt19937 random(seed);
  std::uint64_t before = 0;
  for (int round = 0; round < rounds; ++round) {
    told.counts = false;
    const pid_t feeder = ::fork();
    if (feeder == 0) {
      statistic_configure(&settings);
      feed(told, as_list);
    }
    int status = 0;
    while (!told.counts) {
      if (::waitpid(feeder, &status, WNOHANG) != 0) return 1;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3'000));
    ::kill(feeder, SIGKILL);
    ::waitpid(feeder, &status, 0);
    const std::uint64_t total = total_of(arguments[2]);
    if (total < before + told.ended || total > before + told.begun) {
      std::cout << "seed " << seed << ", round " << round << ": " << total - before
                << " samples counted, of " << told.begun << " calls begun and " << told.ended
                << " ended\n";
      return 1;
    }
    before = total;
  }
  std::cout << "ok\n";
  return 0;
}
