// How cost grows with statistics, feeders and readers. Each line is a table, a count and figures,
// separated by tabs; tests/bench/scale makes tables and plots of them.
//   scale_bench MOUNT DAEMON_PID TABLE COUNT...    TALLY_SOCKET says where the daemon is
// TABLE: statistics (counts grow: those of before are there still), feeders or readers.
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/sender.h"

namespace tallyfs::bench {
namespace {

constexpr int kPerInterface = 1000;
constexpr std::size_t kDatagramBytes = 1400;
constexpr int kDatagrams = 2000;  // of random samples, again and again
constexpr double kRoundNs = 0.5e9;
constexpr int kRounds = 3;

struct Daemon {
  std::string mount;
  std::string pid;

  double cpu_ns() const {
    clockid_t clock{};
    if (clock_getcpuclockid(std::stoi(pid), &clock) != 0) throw std::runtime_error("no CPU clock");
    return clock_ns(clock);
  }
};

std::string path_of(int i) {
  return "scale" + std::to_string(i / kPerInterface) + "/s" + std::to_string(i % kPerInterface);
}

struct Load {
  std::vector<std::string> datagrams;
  std::uint64_t samples = 0;
};

Load random_load(int statistics) {
  std::mt19937_64 random(static_cast<std::uint64_t>(statistics));
  Load load;
  load.datagrams.resize(kDatagrams);
  for (std::string& each : load.datagrams) {
    for (;;) {
      const auto i = static_cast<int>(random() % static_cast<std::uint64_t>(statistics));
      std::string line = path_of(i);
      line.append(" ").append(std::to_string(random() >> (44 + random() % 20))).append("\n");
      if (each.size() + line.size() > kDatagramBytes) break;
      each += line;
      ++load.samples;
    }
  }
  return load;
}

std::size_t read_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  require(fd >= 0, path);
  static thread_local std::string piece(1 << 16, '\0');
  std::size_t all = 0;
  for (;;) {
    const ssize_t size = read(fd, piece.data(), piece.size());
    require(size >= 0, path);
    if (size == 0) break;
    all += static_cast<std::size_t>(size);
  }
  close(fd);
  return all;
}

template <typename Do>
double best_us(int rounds, Do&& act) {
  double best = 1e18;
  for (int i = 0; i < rounds; ++i) {
    const double begun = clock_ns(CLOCK_MONOTONIC);
    act();
    best = std::min(best, (clock_ns(CLOCK_MONOTONIC) - begun) / 1e3);
  }
  return best;
}

// ---- feeding

// What of the daemon's CPU a sample took, and samples a second; the best of each.
struct Intake {
  double cpu_ns = 1e18;
  double per_second = 0;
};

Intake feed(const Daemon& daemon, const Load& load, int feeders) {
  Intake best;
  for (int round = 0; round < kRounds; ++round) {
    std::atomic<std::uint64_t> samples{0};
    const double cpu = daemon.cpu_ns();
    const double begun = clock_ns(CLOCK_MONOTONIC);
    {
      std::vector<std::jthread> threads;
      for (int f = 0; f < feeders; ++f) {
        threads.emplace_back([&, f] {
          const Sender sender(std::getenv("TALLY_SOCKET"));
          const std::size_t count = load.datagrams.size();
          for (auto i = static_cast<std::size_t>(f); clock_ns(CLOCK_MONOTONIC) < begun + kRoundNs;
               ++i) {
            const std::string& datagram = load.datagrams[i % count];
            sender.send(datagram);
            samples += static_cast<std::uint64_t>(std::ranges::count(datagram, '\n'));
          }
        });
      }
    }
    read_file(daemon.mount + "/statistics/tallyfs/data");  // all of it has been taken in
    const double taken = clock_ns(CLOCK_MONOTONIC) - begun;
    const auto count = static_cast<double>(samples.load());
    best.cpu_ns = std::min(best.cpu_ns, (daemon.cpu_ns() - cpu) / count);
    best.per_second = std::max(best.per_second, count * 1e9 / taken);
  }
  return best;
}

// Values, each with a sample. The intake is asked to keep up, as senders that make it work hard
// have to wait.
void create(const Sender& sender, const Daemon& daemon, int from, int to) {
  std::string datagram;
  int datagrams = 0;
  for (int i = from; i < to; ++i) {
    datagram += "create " + path_of(i) + " on=1\n" + path_of(i) + " 1\n";
    if (datagram.size() < kDatagramBytes && i + 1 < to) continue;
    sender.send(datagram);
    datagram.clear();
    if (++datagrams % 256 == 0) read_file(daemon.mount + "/statistics/tallyfs/data");
  }
  const std::string last = daemon.mount + "/statistics/" + path_of(to - 1);
  const std::string data = last.substr(0, last.rfind('/')) + "/data";
  while (access(data.c_str(), R_OK) != 0) std::this_thread::yield();
}

void measure_statistics(const Daemon& daemon, const std::vector<int>& counts) {
  const Sender sender(std::getenv("TALLY_SOCKET"));
  const double before = memory_bytes(daemon.pid);
  int there = 0;
  for (const int count : counts) {
    create(sender, daemon, there, count);
    there = count;
    const Intake intake = feed(daemon, random_load(count), 1);
    const double memory = (memory_bytes(daemon.pid) - before) / 1024;
    const int rounds = count > 50'000 ? 3 : 30;
    const double open = best_us(30, [&] { read_file(daemon.mount + "/statistics/scale0/data"); });
    const double list = best_us(rounds, [&] {
      DIR* const directory = opendir((daemon.mount + "/statistics").c_str());
      require(directory != nullptr, "opendir");
      while (readdir(directory)) continue;
      closedir(directory);
    });
    const double json = best_us(rounds, [&] { read_file(daemon.mount + "/statistics.json"); });
    std::printf("statistics\t%d\t%.1f\t%.0f\t%.1f\t%.1f\t%.1f\n", count, intake.cpu_ns, memory,
                open, list, json);
    std::fflush(stdout);
  }
}

void measure_feeders(const Daemon& daemon, const std::vector<int>& counts) {
  constexpr int kStatistics = 10;
  const Load load = random_load(kStatistics);
  for (const int count : counts) {
    const Intake intake = feed(daemon, load, count);
    std::printf("feeders\t%d\t%.1f\t%.2f\n", count, intake.cpu_ns, intake.per_second / 1e6);
    std::fflush(stdout);
  }
}

// ---- reading

void measure_readers(const Daemon& daemon, const std::vector<int>& counts) {
  const std::string path = daemon.mount + "/statistics/scale0/data";
  {
    const Sender sender(std::getenv("TALLY_SOCKET"));
    create(sender, daemon, 0, 10);
  }
  for (const int count : counts) {
    std::vector<std::vector<double>> all(static_cast<std::size_t>(count));
    const double cpu = daemon.cpu_ns();
    const double begun = clock_ns(CLOCK_MONOTONIC);
    {
      std::vector<std::jthread> threads;
      for (auto& took : all) {
        threads.emplace_back([&] {
          double at = clock_ns(CLOCK_MONOTONIC);
          do {
            read_file(path);
            const double now = clock_ns(CLOCK_MONOTONIC);
            took.push_back((now - at) / 1e3);
            at = now;
          } while (at < begun + 2 * kRoundNs);
        });
      }
    }
    const double seconds = (clock_ns(CLOCK_MONOTONIC) - begun) / 1e9;
    const double cpu_us = (daemon.cpu_ns() - cpu) / 1e3;
    std::vector<double> took;
    for (const auto& each : all) took.insert(took.end(), each.begin(), each.end());
    std::ranges::sort(took);
    const auto reads = static_cast<double>(took.size());
    std::printf("readers\t%d\t%.0f\t%.1f\t%.1f\t%.1f\n", count, reads / seconds,
                took[took.size() / 2], took[took.size() * 99 / 100], cpu_us / reads);
    std::fflush(stdout);
  }
}

void run(const std::vector<std::string>& words) {
  const Daemon daemon{words.at(0), words.at(1)};
  std::vector<int> counts;
  for (std::size_t i = 3; i < words.size(); ++i) counts.push_back(std::stoi(words[i]));
  if (words.at(2) == "statistics") return measure_statistics(daemon, counts);
  if (words[2] == "feeders") return measure_feeders(daemon, counts);
  if (words[2] == "readers") return measure_readers(daemon, counts);
  throw std::runtime_error("no table " + words[2]);
}

}  // namespace
}  // namespace tallyfs::bench

int main(int count, char** arguments) {
  try {
    tallyfs::bench::run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scale_bench: %s\n", error.what());
    return 1;
  }
}
