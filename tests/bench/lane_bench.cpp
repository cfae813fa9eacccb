// What a sample that is counted in a cell, or put into a ring, costs its caller (docs/lane.md),
// beside a bare loop over the same random X and a clock read of the same run. Into rings samples go
// in bursts for which there is room. Each figure is the best of kRounds, in CPU
// time of the calling threads, the bare loop taken off. TALLY_SOCKET says where the daemon is.
//   lane_bench [SERVER]: its process id, for what a record costs the daemon
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tally/statistic.h"

namespace {

constexpr int kRounds = 9;
constexpr int kThreadRounds = 3;
constexpr long kCalls = 4'000'000;
constexpr std::size_t kValues = 4096;  // of X, in turn; 32 KiB, which the first cache holds

double clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

std::uint64_t read_counter() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}

void keep(std::int64_t value) { asm volatile("" : : "r"(value) : "memory"); }

std::vector<std::int64_t> random_values() {
  const auto seed = std::random_device{}();
  std::printf("seed %u\n", seed);
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> values(kValues);
  for (auto& each : values) each = static_cast<std::int64_t>(random() >> (44 + random() % 20));
  return values;
}

const std::vector<std::int64_t> g_values = random_values();

// CPU time of the calling thread for each X.
template <typename Take>
double round_of(Take&& take) {
  const double begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
  for (long i = 0; i < kCalls; ++i) take(g_values[static_cast<std::size_t>(i) % kValues]);
  return (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun) / static_cast<double>(kCalls);
}

template <typename Take>
double cost(Take&& take) {
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) best = std::min(best, round_of(take));
  return best;
}

struct Bare {
  double loop = 0;
  double clock_read = 0;
};

void print(const Bare& bare, const std::string& what, double ns, const char* wanted = "") {
  const double beyond = ns - bare.loop;
  std::printf("%-52s %7.2f ns  %6.3f of a clock read  %6.1f bare loops  %s\n", what.c_str(), beyond,
              beyond / bare.clock_read, ns / bare.loop, wanted);
}

statistic_interface* g_interface = nullptr;

template <typename Define>
statistic* make(const char* name, Define&& define) {
  statistic* made = nullptr;
  statistic_create(&made, g_interface, name, nullptr);
  define(made);
  statistic_start(made);
  if (statistic_sync(10'000) != 0) throw std::runtime_error(statistic_last_error());
  return made;
}

void sync() {
  if (statistic_sync(10'000) != 0) throw std::runtime_error(statistic_last_error());
}

// Whether the next sample is counted in a cell or put into a ring: others are held for a while.
bool goes_by_lane(statistic* of) {
  sync();
  statistic_inc(of, 1);
  statistic_counts counts{};
  statistic_count(&counts, sizeof counts);
  return counts.added == counts.sent;
}

statistic* in_lane(statistic* of) {
  constexpr int kTriesMax = 1000;
  for (int i = 0; i < kTriesMax; ++i) {
    if (goes_by_lane(of)) return of;
  }
  throw std::runtime_error("the daemon gives no lane");
}

double in_batch(statistic* of) {
  constexpr std::size_t kBatch = 1'000;
  std::vector<statistic_sample> samples(kBatch);
  std::size_t i = 0;
  return cost([&](std::int64_t x) {
    samples[i] = {x, 1, 0};
    if (++i < kBatch) return;
    i = 0;
    statistic_add_batch(of, samples.data(), samples.size());
  });
}

// Of the daemon's server, if it was named.
std::optional<clockid_t> g_server;
double server_ns() { return g_server ? clock_ns(*g_server) : 0; }

struct InRing {
  double call = 1e18;
  double daemon = 1e18;  // for each, with its share of a request and an answer
};
// Of calls in bursts, between which the daemon takes what is in the ring.
InRing cost_in_bursts(statistic* of) {
  constexpr long kBurst = 16'000;  // of 4 words each, which 512 KiB hold
  constexpr long kBursts = 25;
  constexpr double kAll = static_cast<double>(kBurst * kBursts);
  InRing best;
  for (int round = 0; round < kRounds; ++round) {
    double all = 0;
    sync();
    const double before = server_ns();
    for (long burst = 0; burst < kBursts; ++burst) {
      const double begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
      for (long i = 0; i < kBurst; ++i) {
        statistic_inc(of, g_values[static_cast<std::size_t>(i) % kValues]);
      }
      all += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
      sync();
    }
    best.call = std::min(best.call, all / kAll);
    best.daemon = std::min(best.daemon, (server_ns() - before) / kAll);
  }
  return best;
}

// Threads that add to one statistic at the same time: CPU time a call.
double with_threads(statistic* of, unsigned threads) {
  double best = 1e18;
  for (int round = 0; round < kThreadRounds; ++round) {
    std::atomic<double> all{0};
    std::barrier begin(static_cast<std::ptrdiff_t>(threads));
    std::vector<std::jthread> running;
    for (unsigned t = 0; t < threads; ++t) {
      running.emplace_back([&] {
        cpu_set_t any;
        CPU_ZERO(&any);
        for (unsigned cpu = 0; cpu < std::thread::hardware_concurrency(); ++cpu) CPU_SET(cpu, &any);
        sched_setaffinity(0, sizeof any, &any);
        statistic_inc(of, 1);
        begin.arrive_and_wait();
        all += round_of([of](std::int64_t x) { statistic_inc(of, x); });
      });
    }
    running.clear();
    best = std::min(best, all / threads);
  }
  return best;
}

template <typename Define>
void measure_in_ring(const Bare& bare, const std::string& name, Define&& define,
                     const char* wanted) {
  std::string plain = name;
  std::ranges::replace(plain, ' ', '_');
  statistic* const made = in_lane(make(plain.c_str(), define));
  const InRing cost = cost_in_bursts(made);
  print(bare, name + ", in a ring", cost.call, wanted);
  if (g_server) std::printf("%-52s %7.2f ns\n", "  the daemon, for each", cost.daemon);
}

// A value, and views of what is fed to it.
using DefineView = int (*)(statistic*);
int define_range(statistic* of) {
  return statistic_define_range(of, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX);
}
int define_quantiles(statistic* of) {
  return statistic_define_quantiles(of, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX, 5, "50,99");
}
int define_history(statistic* of) {
  return statistic_define_history(of, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX, 10, 1'000'000,
                                  STATISTIC_MODE_RANGE);
}
void measure_views(const Bare& bare, const char* name, const std::vector<DefineView>& views) {
  static int last_view = 0;
  const auto define = [&](statistic* of) {
    for (const DefineView define_view : views) {
      statistic* view = nullptr;
      const std::string its = "view" + std::to_string(++last_view);
      if (statistic_create_view(&view, of, its.c_str()) != 0 || define_view(view) != 0) {
        throw std::runtime_error(statistic_last_error());
      }
    }
  };
  measure_in_ring(bare, name, define, "");
}

void measure_rings(const Bare& bare) {
  const auto list = [](statistic* of) {
    statistic_define_list(of, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX, 4096);
  };
  const auto last = [](statistic* of) {
    statistic_define_last(of, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX);
  };
  measure_in_ring(bare, "list", list, "(wanted: at most 0.15)");
  const auto read = [](std::int64_t) { keep(static_cast<std::int64_t>(read_counter())); };
  const double counter = cost(read);
  print(bare, "a read of the counter", counter);
  measure_in_ring(bare, "last", last, "(wanted: at most that and 6 ns)");
  measure_in_ring(bare, "quantiles", define_quantiles, "");
  measure_in_ring(bare, "history", define_history, "");
  measure_views(bare, "value with a view range", {define_range});
  measure_views(bare, "value with a view quantiles", {define_quantiles});
  measure_views(bare, "value with range and quantiles", {define_range, define_quantiles});
  measure_views(bare, "value with a view history", {define_history});
  measure_views(bare, "value with all three", {define_range, define_quantiles, define_history});
  sync();
}

void measure() {
  statistic_create_interface(&g_interface, "lane", STATISTIC_LIFETIME_FEEDER);
  Bare bare{.loop = cost(keep), .clock_read = 0};
  // The call alone: its time as a double would cost 6 ns more.
  const auto read_clock = [](std::int64_t) {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    keep(now.tv_nsec);
  };
  bare.clock_read = cost(read_clock) - bare.loop;
  std::printf("bare loop %.2f ns, clock read %.1f ns beyond it\n", bare.loop, bare.clock_read);
  const auto call = [](statistic* of) {
    return cost([of](std::int64_t x) { statistic_inc(of, x); });
  };
  const auto none = [](statistic*) {};
  const auto array = [](statistic_scale scale) {
    return [scale](statistic* of) {
      const std::uint64_t base = scale == STATISTIC_SCALE_LIN ? 1024 : 1;
      statistic_define_array(of, 0, 1'000'000, base, scale);
    };
  };
  statistic* const off = make("off", none);
  statistic_stop(off);
  statistic_sync(10'000);
  statistic* const value = in_lane(make("value", none));
  statistic* const range = in_lane(make("range", [](statistic* of) {
    statistic_define_range(of, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX);
  }));
  statistic* const log2 = in_lane(make("log2", array(STATISTIC_SCALE_LOG2)));
  statistic* const lin = in_lane(make("lin", array(STATISTIC_SCALE_LIN)));
  print(bare, "off", call(off), "(wanted: at most 1 ns)");
  print(bare, "value, in a cell", call(value), "(wanted: at most 0.14)");
  print(bare, "range, in a cell", call(range), "(wanted: at most 0.30)");
  print(bare, "array log2, in a cell", call(log2), "(wanted: at most 0.30)");
  print(bare, "array lin, in a cell", call(lin), "(wanted: at most 0.30)");
  print(bare, "a sample of a batch of 1,000, value", in_batch(value));
  print(bare, "a sample of a batch of 1,000, range", in_batch(range));
  print(bare, "a sample of a batch of 1,000, array log2", in_batch(log2));
  measure_rings(bare);
  for (const unsigned threads : {1u, 2u, 8u}) {
    const std::string of = std::to_string(threads) + " threads on one ";
    print(bare, of + "value", with_threads(value, threads));
    print(bare, of + "array log2", with_threads(log2, threads));
  }
  statistic_counts counts{};
  statistic_count(&counts, sizeof counts);
  std::printf("%llu samples added, %llu dropped, %llu lost\n",
              static_cast<unsigned long long>(counts.added),
              static_cast<unsigned long long>(counts.dropped),
              static_cast<unsigned long long>(counts.lost));
}

}  // namespace

int main(int count, char** arguments) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  try {
    if (count > 1 && clock_getcpuclockid(std::atoi(arguments[1]), &g_server.emplace()) != 0) {
      throw std::runtime_error("no CPU clock of the server");
    }
    measure();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lane_bench: %s\n", error.what());
    return 1;
  }
}
