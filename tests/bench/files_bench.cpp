// What it costs to read the daemon's files, beside a minimal libfuse program in the same run: both
// pinned to the last CPU, this reader to the same one and then to another.
//   files_bench MOUNT MINIMAL_MOUNT      TALLY_SOCKET says where the daemon is
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/sender.h"

namespace tallyfs::bench {
namespace {

constexpr std::size_t kBufferBytes = 128 * 1024;  // cat's

std::size_t read_whole(const std::string& path) {
  static std::vector<char> buffer(kBufferBytes);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  require(fd >= 0, path);
  std::size_t bytes = 0;
  for (ssize_t some = 1; (some = ::read(fd, buffer.data(), buffer.size())) != 0;
       bytes += static_cast<std::size_t>(some)) {
    require(some > 0, path);
  }
  ::close(fd);
  return bytes;
}

double best_ms(int rounds, const std::function<void()>& what) {
  double best = 1e18;
  for (int i = 0; i < rounds; ++i) {
    const double begun = clock_ns(CLOCK_MONOTONIC);
    what();
    best = std::min(best, clock_ns(CLOCK_MONOTONIC) - begun);
  }
  return best / 1e6;
}

// Of one turn, in microseconds, in the best of some runs.
double turn_us(const std::string& path) {
  constexpr int kTurns = 2'000;
  return best_ms(5,
                 [&] {
                   for (int i = 0; i < kTurns; ++i) read_whole(path);
                 }) *
         1000 / kTurns;
}

void small_file(const std::string& mount, const std::string& minimal, Sender& sender) {
  for (int i = 0; i < 8; ++i) {
    const std::string name = "files/statistic_number_" + std::to_string(i);
    sender.ask("create " + name + " on=1");
    sender.ask(name + " 1000");
  }
  const std::string ours = mount + "/statistics/files/data";
  const std::string theirs = minimal + "/data";
  const unsigned last = std::thread::hardware_concurrency() - 1;
  for (const unsigned cpu : {last, 0u}) {
    pin(cpu);
    const double minimal_us = turn_us(theirs);
    const double ours_us = turn_us(ours);
    std::printf(
        "open, read, close of %zu B, CPUs %-5s  %8.1f us  minimal program %8.1f us  ratio %.2f  "
        "%s\n",
        read_whole(ours), cpu == last ? "same" : "apart", ours_us, minimal_us, ours_us / minimal_us,
        cpu == last ? "(wanted: 1.25)" : "(wanted: 1.25, and 80 us)");
    if (last == 0) break;
  }
  pin(0);
}

// Before all ordinary threads, so that the measured wait is for a lock, and not for a CPU that
// another thread uses. 0: the calling thread.
void set_urgent(pid_t thread, bool urgent) {
  const sched_param priority{.sched_priority = urgent ? 1 : 0};
  require(sched_setscheduler(thread, urgent ? SCHED_FIFO : SCHED_OTHER, &priority) == 0,
          "sched_setscheduler");
}

// While `work` runs, the longest time that a sample for this statistic took until the daemon had
// added it, in ms. The daemon's main thread is the one that takes samples in.
double longest_intake_ms(const std::string& path, pid_t daemon, const std::function<void()>& work) {
  std::atomic<bool> working{true};
  double longest = 0;
  set_urgent(daemon, true);
  std::thread sampler([&] {
    set_urgent(0, true);
    Sender sender(std::getenv("TALLY_SOCKET"));
    while (working) {
      const double begun = clock_ns(CLOCK_MONOTONIC);
      sender.ask(path + " 1");
      longest = std::max(longest, (clock_ns(CLOCK_MONOTONIC) - begun) / 1e6);
      usleep(100);
    }
  });
  work();
  working = false;
  sampler.join();
  set_urgent(daemon, false);
  return longest;
}

void large_file(const std::string& mount, pid_t daemon, Sender& sender) {
  constexpr int kEntries = 300'000;
  sender.ask("create large/raw type=raw entries_max=" + std::to_string(kEntries) + " on=1");
  std::string datagram;
  for (int i = 0; i < kEntries; ++i) {
    datagram += "large/raw " + std::to_string(100'000'000 + i) + " 1\n";
    if (datagram.size() > 8000) sender.send(std::exchange(datagram, ""));
  }
  sender.ask(datagram.substr(0, datagram.size() - 1)
                 .substr(datagram.rfind('\n', datagram.size() - 2) + 1));
  const std::string path = mount + "/statistics/large/data";
  std::size_t bytes = 0;
  const double ms = best_ms(5, [&] { bytes = read_whole(path); });
  std::printf("open, read, close of %zu B, CPUs apart  %8.1f ms  (wanted: 50)\n", bytes, ms);
  const auto read_often = [&] {
    for (int i = 0; i < 20; ++i) read_whole(path);
  };
  const double idle = longest_intake_ms("large/other", daemon, [&] { usleep(200'000); });
  const double other = longest_intake_ms("files/statistic_number_0", daemon, read_often);
  const double same = longest_intake_ms("large/other", daemon, read_often);
  std::printf(
      "longest intake of its interface meanwhile     %8.2f ms  of another's %.2f ms  with no "
      "reader "
      "%.2f ms  (wanted: 5)\n",
      same, other, idle);
}

void many_interfaces(const std::string& mount, const std::string& daemon_pid, Sender& sender) {
  constexpr int kInterfaces = 10'000;
  const auto memory = [&] { return memory_bytes(daemon_pid); };
  const double before = memory();
  for (int i = 0; i < kInterfaces; ++i) {
    std::string datagram;
    for (int k = 0; k < 10; ++k)
      datagram += "interface_" + std::to_string(i) + "/statistic_" + std::to_string(k) + " 1\n";
    sender.send(datagram);
  }
  sender.ask("interface_0/statistic_0 1");
  std::printf(
      "10,000 interfaces of 10 statistics: %.0f bytes of the daemon's memory a statistic  (wanted: "
      "600)\n",
      (memory() - before) / (10.0 * kInterfaces));
  const auto shell = [&](const std::string& command) {
    require(std::system(command.c_str()) == 0, command);
  };
  const std::string directory = mount + "/statistics";
  std::printf("ls of them      %8.1f ms  (wanted: 50)\n",
              best_ms(3, [&] { shell("ls " + directory + " >/dev/null"); }));
  std::printf("ls -l           %8.1f ms  (wanted: 100)\n",
              best_ms(3, [&] { shell("ls -l " + directory + " >/dev/null"); }));
  std::printf("cat */data      %8.1f ms  (wanted: 2000)\n",
              best_ms(3, [&] { shell("cat " + directory + "/*/data >/dev/null"); }));
}

void run(const std::string& mount, const std::string& minimal, const std::string& daemon_pid) {
  Sender sender(std::getenv("TALLY_SOCKET"));
  small_file(mount, minimal, sender);
  large_file(mount, std::stoi(daemon_pid), sender);
  many_interfaces(mount, daemon_pid, sender);
}

}  // namespace
}  // namespace tallyfs::bench

int main(int arguments, char** argument) try {
  if (arguments != 4) throw std::runtime_error("files_bench MOUNT MINIMAL_MOUNT DAEMON_PID");
  tallyfs::bench::run(argument[1], argument[2], argument[3]);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "files_bench: %s\n", error.what());
  return 1;
}
