// Longer than most: loads, the bare program and the daemon are measured alike.
// What the daemon's socket takes in, beside what two bare programs move through such a socket with
// the same sender, CPUs and queue length. Each line tells the samples a second of the wall clock,
// from the first send() until an open() has seen the last sample; what of the daemon's CPU each
// took; and counts that none was lost.
//   intake_bench MOUNT DAEMON_PID [refused]      TALLY_SOCKET says where the daemon is
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
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/bench/bare_receiver.h"
#include "tests/bench/cache_misses.h"
#include "tests/bench/figures.h"
#include "tests/bench/sender.h"

namespace tallyfs::bench {
namespace {

constexpr int kRounds = 5;
constexpr int kTurns = 7;
constexpr int kManyStatistics = 10'000;
constexpr int kVeryManyStatistics = 100'000;
constexpr double kRoundNs = 0.7e9;
constexpr double kBacklogNs = 20e9;  // by then the daemon has taken in what it had put off

using Datagrams = std::vector<std::string>;

// ---- the daemon, as its files and the kernel show it

// To the nanosecond, and with threads that have ended.
double cpu_ns_of(const std::string& pid) {
  clockid_t clock{};
  if (clock_getcpuclockid(std::stoi(pid), &clock) != 0) throw std::runtime_error("no CPU clock");
  return clock_ns(clock);
}

// For how long its first thread was ready to run, and something else had the CPU.
double delayed_ns_of(const std::string& pid) {
  double ran = 0, delayed = 0;
  std::ifstream("/proc/" + pid + "/schedstat") >> ran >> delayed;
  return delayed;
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
  std::uint64_t samples = 0;        // in all of them together
  const char* counted = "samples";  // the daemon's own number of what became of them
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

// Statistics of one type with short names, in an interface of its own.
struct Short {
  const char* interface;
  const char* definition;

  std::string path(std::uint64_t i) const {
    return std::string(interface) + "/s" + std::to_string(i);
  }
  // Many at a time. The last of them is answered, before more are sent than the queue holds.
  void create(Sender& sender, std::uint64_t count) const {
    constexpr std::size_t kAtOnceBytes = 8192;
    std::string lines;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::string line = "create " + path(i) + definition;
      if (lines.size() < kAtOnceBytes && i + 1 < count) {
        lines.append(line).push_back('\n');
        continue;
      }
      sender.send(std::exchange(lines, ""));
      sender.ask(line);
    }
  }
};

// X of 1 to 6 random digits: what can be guessed of constant ones is not measured. Few statistics
// come in turn, many at random, each some times.
std::string random_digits(std::mt19937& random) {
  std::string x(1 + random() % 6, '0');
  for (char& digit : x) digit = static_cast<char>('0' + random() % 10);
  return x;
}

Load text_random(const Short& of, int count, std::size_t bytes) {
  constexpr int kLinesMin = 20'000;
  constexpr int kEach = 4;
  constexpr int kFew = 8;
  const auto lines = static_cast<std::uint64_t>(std::max(kLinesMin, kEach * count));
  std::mt19937 random(20);
  Load load;
  std::string datagram;
  for (; load.samples < lines; ++load.samples) {
    const auto i = count > kFew ? random() : load.samples;
    const std::string next =
        of.path(i % static_cast<unsigned>(count)) + " " + random_digits(random) + "\n";
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
  double busy = 0;    // the part of the time in which it worked: what others had of its CPU is none
  std::optional<double> misses = std::nullopt;  // of its cache, for each
};

Figure best_of(const std::function<Figure()>& measure) {
  Figure best;
  for (int i = 0; i < kRounds; ++i) {
    const Figure figure = measure();
    if (figure.rate > best.rate) best = figure;
  }
  return best;
}

// What a process uses from its construction on.
class Use {
 public:
  explicit Use(std::string pid)
      : pid_(std::move(pid)),
        misses_(std::stoi(pid_)),
        begun_(clock_ns(CLOCK_MONOTONIC)),
        cpu_(cpu_ns_of(pid_)),
        delayed_(delayed_ns_of(pid_)) {}

  double ns() const { return clock_ns(CLOCK_MONOTONIC) - begun_; }
  Figure of(std::uint64_t sent) const {
    const auto count = static_cast<double>(sent);
    const double wall = ns();
    const double cpu = cpu_ns_of(pid_) - cpu_;
    Figure figure{count * 1e9 / wall, cpu / count, cpu / (wall - delayed_ns_of(pid_) + delayed_)};
    if (const auto misses = misses_.count()) figure.misses = *misses / count;
    return figure;
  }

 private:
  const std::string pid_;
  const CacheMisses misses_;
  const double begun_;
  const double cpu_;
  const double delayed_;
};

Figure measure(const Daemon& daemon, const Sender& sender, const Load& load) {
  const std::uint64_t before = daemon.own(load.counted);
  const Use use(daemon.pid);
  const std::uint64_t sent = send_for_a_round(sender, load.datagrams) * load.samples;
  // An open waits for what was sent, but not for what a sender beyond its share has in the backlog.
  std::uint64_t taken = daemon.own(load.counted) - before;
  while (taken < sent && use.ns() < kRoundNs + kBacklogNs) {
    taken = daemon.own(load.counted) - before;
  }
  if (taken != sent) {
    throw std::runtime_error("of " + std::to_string(sent) + " " + load.counted + " " +
                             std::to_string(taken) + " arrived");
  }
  return use.of(sent);
}

Figure measure_bare(const Datagrams& datagrams) {
  const std::string path = "/tmp/tallyfs-bare." + std::to_string(getpid());
  const BareReceiver receiver(path);
  const Sender sender(path);
  const Use use(std::to_string(receiver.process()));
  const std::uint64_t sent = send_for_a_round(sender, datagrams) * datagrams.size();
  receiver.wait_for(sent);
  return use.of(sent);
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
  note_figure("intake", what, "million samples/s", ours.rate / 1e6);
  note_figure("intake", what, "CPU ns a sample", ours.cpu_ns);
  note_figure("intake", what, "of a bare pair's rate", ours.rate / (bare.rate * per_datagram));
}

// With the quartiles of what is said of each.
struct Quartiles {
  explicit Quartiles(std::vector<double> each) {
    std::ranges::sort(each);
    first = each[each.size() / 4];
    median = each[each.size() / 2];
    third = each[3 * each.size() / 4];
  }
  double first;
  double median;
  double third;
};

Quartiles quartiles_of(const std::vector<Figure>& figures, auto what) {
  std::vector<double> each;
  for (const Figure& figure : figures) each.push_back(what(figure));
  return Quartiles(std::move(each));
}

std::string shown_misses(const std::vector<Figure>& figures) {
  if (!figures.front().misses) return "no counters of cache misses";
  std::array<char, 64> text;
  const auto misses = quartiles_of(figures, [](const Figure& each) { return *each.misses; });
  std::snprintf(text.data(), text.size(), "%.2f cache misses", misses.median);
  return text.data();
}

// CPU time of the daemon beside that of a bare loop, which take turns. A bare loop that waits for
// its sender is woken often, and so costs more than one that is busy.
void compare_cpu(const char* what, const Daemon& daemon, const Sender& sender, const Load& load,
                 const char* wanted) {
  const double per_datagram =
      static_cast<double>(load.samples) / static_cast<double>(load.datagrams.size());
  std::vector<Figure> bare, ours;
  std::vector<double> ratios;
  for (int i = 0; i < kTurns; ++i) {
    bare.push_back(measure_bare(load.datagrams));
    ours.push_back(measure(daemon, sender, load));
    ratios.push_back(ours.back().cpu_ns * per_datagram / bare.back().cpu_ns);
  }
  const auto cpu_ns = [](const Figure& each) { return each.cpu_ns; };
  const auto busy = [](const Figure& each) { return each.busy; };
  const Quartiles ratio(std::move(ratios));
  std::printf("%-52s %6.1f ns, %s; %.2f (%.2f to %.2f) of a bare loop's %.1f ns, %.0f%% busy  %s\n",
              what, quartiles_of(ours, cpu_ns).median, shown_misses(ours).c_str(), ratio.median,
              ratio.first, ratio.third, quartiles_of(bare, cpu_ns).median / per_datagram,
              100 * quartiles_of(bare, busy).median, wanted);
  std::fflush(stdout);
  note_figure("intake-cpu", what, "CPU ns a sample", quartiles_of(ours, cpu_ns).median);
  note_figure("intake-cpu", what, "of a bare loop", ratio.median);
  note_figure("intake-cpu", what, "first quartile", ratio.first);
  note_figure("intake-cpu", what, "third quartile", ratio.third);
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

void compare_random(const Daemon& daemon, Sender& sender) {
  const Short arrays{"load", Statistics::kDefinition};
  const Short values{"value", " type=value mode=increments on=1"};
  const Short ranges{"range", " type=range on=1"};
  arrays.create(sender, 8);
  values.create(sender, kVeryManyStatistics);
  ranges.create(sender, kVeryManyStatistics);
  const auto compare_many = [&](const char* what, const Short& of, int count, const char* wanted) {
    compare_cpu(what, daemon, sender, text_random(of, count, 1400), wanted);
  };
  compare_many("text of random digits, 8 arrays in turn", arrays, 8, "(wanted: at most 2.2)");
  compare_many("10,000 values at random", values, kManyStatistics, "(wanted: at most 3)");
  compare_many("10,000 ranges at random", ranges, kManyStatistics, "");
  compare_many("100,000 values at random", values, kVeryManyStatistics, "(wanted: at most 4)");
  compare_many("100,000 ranges at random", ranges, kVeryManyStatistics, "");
}

// ---- lines that are refused

struct RefusedLine {
  const char* what;
  const char* before;  // a random number of at most six digits
  const char* after;
};
constexpr RefusedLine kRefusedLines[] = {
    {"no / and no command", "word", ""},
    {"a number with a unit", "value/s1 ", "ms"},
    {"a number that is none", "value/s1 x", ""},
    {"no number", "value/s", ""},
    {"three numbers", "value/s1 2 3 ", ""},
    {"a line of StatsD", "web.us:", "|ms"},
    {"a decimal for whole numbers", "value/s1 1.", ""},
    {"a name with a =", "value/s=", " 1"},
    {"create with a wrong type", "create value/s1 type=", ""},
    {"define with an unknown key", "define value/s1 key", "=1"},
};

// Good lines where `line` is nullptr.
Load text_refused(const RefusedLine* line, std::size_t bytes) {
  constexpr int kLines = 20'000;
  std::mt19937 random(21);
  Load load{.counted = line ? "rejects" : "samples"};
  std::string datagram;
  for (; load.samples < kLines; ++load.samples) {
    const std::string x = random_digits(random);
    const std::string next = line ? line->before + x + line->after + "\n"
                                  : "value/s" + std::to_string(load.samples % 8) + " " + x + "\n";
    if (!datagram.empty() && datagram.size() + next.size() > bytes)
      load.datagrams.push_back(std::exchange(datagram, ""));
    datagram += next;
  }
  load.datagrams.push_back(datagram);
  return load;
}

// CPU time of the daemon for lines that are refused, beside good ones, which take turns.
void compare_refused(const Daemon& daemon, const Sender& sender, std::size_t bytes) {
  std::vector<Load> refused;
  for (const RefusedLine& line : kRefusedLines) refused.push_back(text_refused(&line, bytes));
  const Load good = text_refused(nullptr, bytes);
  std::vector<double> good_ns;
  std::array<std::vector<double>, std::size(kRefusedLines)> refused_ns, ratios;
  for (int turn = 0; turn < kTurns; ++turn) {
    good_ns.push_back(measure(daemon, sender, good).cpu_ns);
    for (std::size_t i = 0; i < refused.size(); ++i) {
      refused_ns[i].push_back(measure(daemon, sender, refused[i]).cpu_ns);
      ratios[i].push_back(refused_ns[i].back() / good_ns.back());
    }
  }
  for (std::size_t i = 0; i < refused.size(); ++i) {
    const Quartiles ratio(ratios[i]);
    std::printf(
        "%5.1f a datagram, %-29s %7.1f ns; %5.2f (%.2f to %.2f) of a good line's %.1f ns\n",
        static_cast<double>(refused[i].samples) / static_cast<double>(refused[i].datagrams.size()),
        kRefusedLines[i].what, Quartiles(refused_ns[i]).median, ratio.median, ratio.first,
        ratio.third, Quartiles(good_ns).median);
    const std::string column = "of a good line, " + std::to_string(bytes) + " bytes a datagram";
    note_figure("refused", kRefusedLines[i].what, column.c_str(), ratio.median);
  }
  std::fflush(stdout);
}

void run_refused(const Daemon& daemon) {
  Sender sender(daemon.socket);
  Short{"value", " type=value mode=increments on=1"}.create(sender, 8);
  std::puts("# lines that are refused (wanted: at most twice a good one, but for commands)");
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{1400}, std::size_t{65'000}})
    compare_refused(daemon, sender, bytes);
}

void run(const Daemon& daemon) {
  Sender sender(daemon.socket);
  const Statistics eight(sender, 8);
  compare("text, one sample a datagram of 40 bytes", daemon, sender, text_one_by_one(eight, 40),
          "(wanted: 0.9)");
  const Load packed = text_packed(eight, 1400);
  compare("text packed to 1,400 bytes, 8 statistics", daemon, sender, packed, "(wanted: 20 M/s)");
  compare_with_reader(daemon, sender, packed);
  compare_random(daemon, sender);
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
  const bool is_refused = arguments == 4 && std::string(argument[3]) == "refused";
  if (arguments != 3 && !is_refused)
    throw std::runtime_error("intake_bench MOUNT DAEMON_PID [refused]");
  const tallyfs::bench::Daemon daemon{
      .mount = argument[1], .socket = std::getenv("TALLY_SOCKET"), .pid = argument[2]};
  is_refused ? tallyfs::bench::run_refused(daemon) : tallyfs::bench::run(daemon);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "intake_bench: %s\n", error.what());
  return 1;
}
