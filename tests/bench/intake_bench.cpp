// What the daemon's socket takes in, beside what two bare programs move through such a socket with
// the same sender, CPUs and queue length. Each line tells the samples a second of the wall clock,
// from the first send() until an open() has seen the last sample; what of the daemon's CPU each
// took; and counts that none was lost.
//   intake_bench MOUNT DAEMON_PID      TALLY_SOCKET says where the daemon is
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/bench/bare_receiver.h"
#include "tests/bench/sender.h"

namespace tallyfs::bench {
namespace {

constexpr int kRounds = 5;
constexpr int kManyStatistics = 10'000;
constexpr double kRoundNs = 0.7e9;
constexpr double kBacklogNs = 2e9;  // by then the daemon has taken in what it had put off

using Datagrams = std::vector<std::string>;

// ---- the daemon, as its files and the kernel show it

// To the nanosecond, and with threads that have ended.
double cpu_ns_of(const std::string& pid) {
  clockid_t clock{};
  if (clock_getcpuclockid(std::stoi(pid), &clock) != 0) throw std::runtime_error("no CPU clock");
  return clock_ns(clock);
}

struct Daemon {
  std::string mount;
  std::string socket;
  std::string pid;

  std::uint64_t own(const std::string& name) const {
    std::ifstream data(mount + "/statistics/tallyfs/data");
    for (std::string line; std::getline(data, line);) {
      if (line.starts_with(name + " ")) return std::stoull(line.substr(name.size() + 1));
    }
    throw std::runtime_error("no " + name + " among the daemon's own numbers");
  }
  double cpu_ns() const { return cpu_ns_of(pid); }
};

// Sends all of them again and again for about a round. Returns how often.
std::uint64_t send_for_a_round(const Sender& sender, const Datagrams& datagrams) {
  const double end = clock_ns(CLOCK_MONOTONIC) + kRoundNs;
  std::uint64_t turns = 0;
  for (; clock_ns(CLOCK_MONOTONIC) < end; ++turns) {
    for (const std::string& each : datagrams) sender.send(each);
  }
  return turns;
}

// ---- what is sent

struct Load {
  Datagrams datagrams;
  std::uint64_t samples = 0;  // in all of them together
};

// So many statistics, on, in interfaces of a hundred at most; numbered through.
struct Statistics {
  static constexpr int kPerInterface = 100;
  static constexpr const char* kDefinition =
      " type=array scale=log2 range_min=0 range_max=4096 base_interval=1 on=1";

  Statistics(Sender& sender, int how_many) : count(how_many) {
    for (int i = 0; i < count; ++i) {
      numbers.push_back(sender.ask("create " + path(i) + kDefinition));
    }
    epoch = sender.epoch();
  }
  static std::string interface(int i) { return "bench_" + std::to_string(i / kPerInterface); }
  static std::string path(int i) {
    return interface(i) + "/latency_" + std::to_string(i % kPerInterface);
  }

  int count;
  std::vector<std::uint64_t> numbers;
  std::uint64_t epoch = 0;
};

std::int64_t value(int i) { return (std::int64_t{i} * 7919) % 4000; }
std::string line(int i, const Statistics& statistics) {
  return Statistics::path(i % statistics.count) + " " + std::to_string(value(i)) + "\n";
}
// Each statistic comes in turn, and often enough for values of all sizes.
int lines_of(const Statistics& statistics) { return std::max(statistics.count, 8000); }

Load text_one_by_one(const Statistics& statistics, std::size_t bytes) {
  Load load;
  for (int i = 0; i < lines_of(statistics); ++i) {
    std::string datagram = line(i, statistics);
    datagram.insert(datagram.find(' '), bytes - datagram.size(), ' ');
    load.datagrams.push_back(std::move(datagram));
  }
  load.samples = load.datagrams.size();
  return load;
}

Load text_packed(const Statistics& statistics, std::size_t bytes) {
  Load load;
  std::string datagram;
  for (int i = 0; i < lines_of(statistics); ++i, ++load.samples) {
    const std::string next = line(i, statistics);
    if (datagram.size() + next.size() > bytes)
      load.datagrams.push_back(std::exchange(datagram, ""));
    datagram += next;
  }
  load.datagrams.push_back(datagram);
  return load;
}

std::string short_path(int i) { return "load/s" + std::to_string(i); }
void create_short(Sender& sender, int count) {
  for (int i = 0; i < count; ++i) sender.ask("create " + short_path(i) + Statistics::kDefinition);
}

// X of 1 to 6 random digits: what can be guessed of constant ones is not measured. Few statistics
// come in turn, many at random.
Load text_random(int count, std::size_t bytes) {
  constexpr int kLines = 20'000;
  constexpr int kFew = 8;
  std::mt19937 random(20);
  Load load;
  std::string datagram;
  for (; load.samples < kLines; ++load.samples) {
    const auto i = count > kFew ? random() : load.samples;
    std::string x(1 + random() % 6, '0');
    for (char& digit : x) digit = static_cast<char>('0' + random() % 10);
    const std::string next =
        short_path(static_cast<int>(i % static_cast<unsigned>(count))) + " " + x + "\n";
    if (datagram.size() + next.size() > bytes)
      load.datagrams.push_back(std::exchange(datagram, ""));
    datagram += next;
  }
  load.datagrams.push_back(datagram);
  return load;
}

// What libtally sends of calls for the statistics in turn: a message for each of them, with times.
Load binary_packed(const Statistics& statistics, std::size_t bytes, wire::SampleFields fields) {
  const auto count = static_cast<std::size_t>(statistics.count);
  const std::size_t each = (bytes - wire::kHeaderBytes) / count - wire::kMessageHeaderBytes - 8;
  std::vector<Sample> samples(each / (fields == wire::kXOnly ? 8 : 16));
  wire::DatagramWriter datagram(statistics.epoch);
  for (std::size_t i = 0; i < count; ++i) {
    for (Sample& sample : samples) {
      sample.x = value(static_cast<int>(&sample - samples.data()) * statistics.count +
                       static_cast<int>(i));
      sample.time = std::chrono::nanoseconds(static_cast<std::int64_t>(clock_ns(CLOCK_MONOTONIC)));
    }
    datagram.samples(statistics.numbers[i], samples, fields);
  }
  return {Datagrams(20, std::string(datagram.bytes())), 20 * count * samples.size()};
}

// ---- measuring

struct Figure {
  double rate = 0;    // a second
  double cpu_ns = 0;  // of the receiver, for each
};

Figure best_of(const std::function<Figure()>& measure) {
  Figure best;
  for (int i = 0; i < kRounds; ++i) {
    const Figure figure = measure();
    if (figure.rate > best.rate) best = figure;
  }
  return best;
}

Figure measure(const Daemon& daemon, const Sender& sender, const Load& load) {
  const std::uint64_t before = daemon.own("samples");
  const double cpu = daemon.cpu_ns();
  const double begun = clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t sent = send_for_a_round(sender, load.datagrams) * load.samples;
  // An open waits for what was sent, but not for what a sender beyond its share has in the backlog.
  std::uint64_t taken = daemon.own("samples") - before;
  while (taken < sent && clock_ns(CLOCK_MONOTONIC) < begun + kRoundNs + kBacklogNs) {
    taken = daemon.own("samples") - before;
  }
  const double ns = clock_ns(CLOCK_MONOTONIC) - begun;
  if (taken != sent) {
    throw std::runtime_error("of " + std::to_string(sent) + " samples " + std::to_string(taken) +
                             " arrived");
  }
  return {static_cast<double>(sent) * 1e9 / ns,
          (daemon.cpu_ns() - cpu) / static_cast<double>(sent)};
}

Figure measure_bare(const Datagrams& datagrams) {
  const std::string path = "/tmp/tallyfs-bare." + std::to_string(getpid());
  const BareReceiver receiver(path);
  const Sender sender(path);
  const std::string pid = std::to_string(receiver.process());
  const double cpu = cpu_ns_of(pid);
  const double begun = clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t sent = send_for_a_round(sender, datagrams) * datagrams.size();
  receiver.wait_for(sent);
  return {static_cast<double>(sent) * 1e9 / (clock_ns(CLOCK_MONOTONIC) - begun),
          (cpu_ns_of(pid) - cpu) / static_cast<double>(sent)};
}

void compare(const char* what, const Daemon& daemon, const Sender& sender, const Load& load,
             const char* wanted) {
  const double per_datagram =
      static_cast<double>(load.samples) / static_cast<double>(load.datagrams.size());
  const Figure bare = best_of([&] { return measure_bare(load.datagrams); });
  const Figure ours = best_of([&] { return measure(daemon, sender, load); });
  std::printf("%-52s %7.2f M/s  %6.1f ns  %5.2f of a bare pair's %7.2f M/s  %s\n", what,
              ours.rate / 1e6, ours.cpu_ns, ours.rate / (bare.rate * per_datagram),
              bare.rate * per_datagram / 1e6, wanted);
  std::fflush(stdout);
}

// CPU time of the daemon beside that of a bare loop, which take turns: the median of each.
void compare_cpu(const char* what, const Daemon& daemon, const Sender& sender, const Load& load,
                 const char* wanted) {
  const double per_datagram =
      static_cast<double>(load.samples) / static_cast<double>(load.datagrams.size());
  std::array<double, kRounds> bare{};
  std::array<double, kRounds> ours{};
  for (std::size_t i = 0; i < kRounds; ++i) {
    bare[i] = measure_bare(load.datagrams).cpu_ns / per_datagram;
    ours[i] = measure(daemon, sender, load).cpu_ns;
  }
  std::ranges::sort(bare);
  std::ranges::sort(ours);
  const double beside = bare[kRounds / 2];
  const double median = ours[kRounds / 2];
  std::printf("%-52s              %6.1f ns  %5.2f of a bare loop's %.1f ns  %s\n", what, median,
              median / beside, beside, wanted);
  std::fflush(stdout);
}

// While it lives, a file is opened, read and closed a hundred times a second.
class Reader {
 public:
  explicit Reader(std::string path)
      : thread_([this, path = std::move(path)] {
          timespec next{};
          clock_gettime(CLOCK_MONOTONIC, &next);
          while (!ended_) {
            std::ifstream file(path);
            const std::string text((std::istreambuf_iterator<char>(file)), {});
            require(!text.empty(), path);
            ++reads_;
            next.tv_nsec += 10'000'000;
            if (next.tv_nsec >= 1'000'000'000) {
              next.tv_nsec -= 1'000'000'000;
              next.tv_sec += 1;
            }
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
          }
        }) {}
  ~Reader() {
    ended_ = true;
    thread_.join();
  }
  int reads() const { return reads_; }

 private:
  std::atomic<bool> ended_{false};
  std::atomic<int> reads_{0};
  std::thread thread_;
};

void compare_with_reader(const Daemon& daemon, const Sender& sender, const Load& load) {
  Figure alone;
  Figure read;
  int reads = 0;
  double seconds = 0;
  // In turns, so that what else goes on in the machine meets both.
  for (int i = 0; i < 2 * kRounds; ++i) {
    const Figure one = measure(daemon, sender, load);
    alone = one.rate > alone.rate ? one : alone;
    const double begun = clock_ns(CLOCK_MONOTONIC);
    const Reader reader(daemon.mount + "/statistics/" + Statistics::interface(0) + "/data");
    const Figure other = measure(daemon, sender, load);
    read = other.rate > read.rate ? other : read;
    reads += reader.reads();
    seconds += (clock_ns(CLOCK_MONOTONIC) - begun) / 1e9;
  }
  std::printf(
      "the same while its data is read %.0f times a second    %7.2f M/s  %6.1f ns  %5.2f of %.2f "
      "M/s without (wanted: 0.95)\n",
      reads / seconds, read.rate / 1e6, read.cpu_ns, read.rate / alone.rate, alone.rate / 1e6);
  std::fflush(stdout);
}

// While they live, each statistic has three views.
class ThreeViews {
 public:
  ThreeViews(const Daemon& daemon, const Statistics& statistics)
      : path_(daemon.mount + "/statistics/" + Statistics::interface(0) + "/definition"),
        count_(statistics.count) {
    for (int i = 0; i < count_; ++i) {
      const std::string source = " of=latency_" + std::to_string(i);
      define(name(i, "p") + source + " type=quantiles precision=5 quantiles=50,99");
      define(name(i, "range") + source + " type=range");
      define(name(i, "by_second") + source +
             " type=history mode=range period=1000000 entries_max=60");
    }
  }
  ~ThreeViews() {
    for (int i = 0; i < count_; ++i) {
      for (const char* const view : {"p", "range", "by_second"}) define(name(i, view) + " of=");
    }
  }

 private:
  static std::string name(int i, const char* view) {
    return "name=latency_" + std::to_string(i) + "_" + view;
  }
  void define(const std::string& line) const {
    std::ofstream definition(path_);
    definition << line << std::endl;
    require(definition.good(), line);
  }

  const std::string path_;
  const int count_;
};

void compare_with_views(const Daemon& daemon, const Sender& sender, const Statistics& statistics,
                        const Load& load) {
  Figure alone;
  Figure viewed;
  const auto keep_best = [&](Figure& best) {
    const Figure one = measure(daemon, sender, load);
    if (best.rate == 0 || one.cpu_ns < best.cpu_ns) best = one;
  };
  for (int i = 0; i < kRounds; ++i) {
    keep_best(alone);
    const ThreeViews views(daemon, statistics);
    keep_best(viewed);
  }
  std::printf("%-52s %7.2f M/s  %6.1f ns  %5.2f of %.1f ns without (wanted: at most 3.2)\n",
              "the same, each statistic with three views", viewed.rate / 1e6, viewed.cpu_ns,
              viewed.cpu_ns / alone.cpu_ns, alone.cpu_ns);
  std::fflush(stdout);
}

void run(const Daemon& daemon) {
  Sender sender(daemon.socket);
  const Statistics eight(sender, 8);
  compare("text, one sample a datagram of 40 bytes", daemon, sender, text_one_by_one(eight, 40),
          "(wanted: 0.9)");
  const Load packed = text_packed(eight, 1400);
  compare("text packed to 1,400 bytes, 8 statistics", daemon, sender, packed, "(wanted: 20 M/s)");
  compare_with_reader(daemon, sender, packed);
  create_short(sender, kManyStatistics);
  compare_cpu("text of random digits, 8 statistics in turn", daemon, sender, text_random(8, 1400),
              "(wanted: at most 2.2)");
  compare_cpu("text of random digits, 10,000 statistics at random", daemon, sender,
              text_random(kManyStatistics, 1400), "(wanted: at most 3)");
  compare("binary packed to 8 KiB, 8 statistics", daemon, sender,
          binary_packed(eight, 8192, wire::kXOnly), "(wanted: 100 M/s)");
  const Load timed = binary_packed(eight, 8192, wire::kWithTime);
  compare("the same, with times, as libtally sends it", daemon, sender, timed, "");
  compare_with_views(daemon, sender, eight, timed);
  const Statistics many(sender, kManyStatistics);
  compare("text packed to 1,400 bytes, 10,000 statistics", daemon, sender, text_packed(many, 1400),
          "(wanted: 18 M/s)");
}

}  // namespace
}  // namespace tallyfs::bench

int main(int arguments, char** argument) try {
  if (arguments != 3) throw std::runtime_error("intake_bench MOUNT DAEMON_PID");
  tallyfs::bench::run(
      {.mount = argument[1], .socket = std::getenv("TALLY_SOCKET"), .pid = argument[2]});
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "intake_bench: %s\n", error.what());
  return 1;
}
