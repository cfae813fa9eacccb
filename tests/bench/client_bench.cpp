// What libtally costs its caller where samples go over the socket, beside loops that do less: an
// empty one, one that reads the clock, one that sends a datagram as full as the library's for as
// many turns as it has samples. Each figure is the best of kRounds, in CPU time of the calling
// thread, since the machine and the daemon have their own business; ratios are to the clock read of
// the same run. TALLY_SOCKET says where the daemon is.
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "tally/statistic.h"

namespace {

constexpr int kRounds = 7;
constexpr long kCalls = 5'000'000;
constexpr int kSamplesPerDatagram = 510;

double clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// CPU time of this thread for each of `calls` turns that `loop` makes.
template <typename Loop>
double cost(long calls, Loop&& loop) {
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const double begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    loop(calls);
    best = std::min(best, (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun) / static_cast<double>(calls));
    statistic_sync(10'000);  // the next round finds an empty queue
  }
  return best;
}

void keep(long value) { asm volatile("" : : "r"(value) : "memory"); }

double g_clock_read = 0;

void print(const char* what, double ns, const char* limit = "") {
  std::printf("%-52s %8.2f ns  %6.2f of a clock read  %s\n", what, ns, ns / g_clock_read, limit);
}

int connected_socket(const char* path) {
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string(path).copy(address.sun_path, sizeof address.sun_path - 1);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    std::perror(path);
    std::exit(1);
  }
  return fd;
}

double bare_send(const char* path) {
  const int fd = connected_socket(path);
  const std::string blank_lines(8192, '\n');
  const double ns = cost(20'000, [&](long calls) {
    for (long i = 0; i < calls; ++i) (void)!send(fd, blank_lines.data(), blank_lines.size(), 0);
  });
  close(fd);
  return ns / kSamplesPerDatagram;
}

// The main thread is pinned beside the daemon's CPU; these are not.
void run_anywhere() {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (unsigned cpu = 0; cpu < std::thread::hardware_concurrency(); ++cpu) CPU_SET(cpu, &all);
  sched_setaffinity(0, sizeof all, &all);
}

// Calls of all threads in a second of the wall clock; and CPU time a call.
void with_threads(const std::array<statistic*, 4>& statistics, unsigned threads) {
  std::atomic<double> cpu_ns{0};
  std::barrier begin(static_cast<std::ptrdiff_t>(threads) + 1);
  std::vector<std::jthread> running;
  for (unsigned t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      run_anywhere();
      begin.arrive_and_wait();
      const double begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
      for (long i = 0; i < 2 * kCalls; ++i) statistic_inc(statistics[t], i & 1023);
      cpu_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
    });
  }
  begin.arrive_and_wait();
  const double begun = clock_ns(CLOCK_MONOTONIC);
  running.clear();
  const double seconds = (clock_ns(CLOCK_MONOTONIC) - begun) / 1e9;
  const double calls = 2.0 * kCalls * threads;
  std::printf(
      "%u thread%s on statistics of their own: %s %8.1f million calls/s, %6.2f ns of CPU each\n",
      threads, threads == 1 ? "" : "s", threads == 1 ? " " : "", calls / seconds / 1e6,
      cpu_ns / calls);
  statistic_sync(10'000);
}

// Four statistics that are on, and one that is off. False: no daemon takes them in.
bool make_statistics(std::array<statistic*, 4>& on, statistic*& off) {
  statistic_settings settings = STATISTIC_SETTINGS_DEFAULT;
  settings.wait_ms = 1000;
  settings.no_lane = 1;  // lane_bench measures what goes another way
  statistic_configure(&settings);
  statistic_interface* interface = nullptr;
  statistic_create_interface(&interface, "bench", STATISTIC_LIFETIME_FEEDER);
  for (std::size_t i = 0; i < on.size(); ++i) {
    statistic_create(&on[i], interface, ("on" + std::to_string(i)).c_str(), nullptr);
    statistic_define_array(on[i], 0, 1'000'000, 1, STATISTIC_SCALE_LOG2);
    statistic_start(on[i]);
  }
  statistic_create(&off, interface, "off", nullptr);
  const int error = statistic_sync(5000);
  if (error != 0)
    std::fprintf(stderr, "client_bench: no daemon takes anything in (%s)\n",
                 strerrorname_np(-error));
  return error == 0;
}

void measure_off(statistic* off) {
  const double empty = cost(10 * kCalls, [](long calls) {
    for (long i = 0; i < calls; ++i) keep(i & 1023);
  });
  const double while_off = cost(10 * kCalls, [&](long calls) {
    for (long i = 0; i < calls; ++i) {
      keep(i & 1023);
      statistic_inc(off, i & 1023);
    }
  });
  print("clock_gettime(CLOCK_MONOTONIC)", g_clock_read);
  print("empty loop", empty);
  print("a call while it is off, beyond the empty loop", while_off - empty,
        "(wanted: at most 1.0 ns)");
}

void measure_on(const std::array<statistic*, 4>& on) {
  const double one = cost(kCalls, [&](long calls) {
    for (long i = 0; i < calls; ++i) statistic_inc(on[0], i & 1023);
  });
  const double four = cost(kCalls, [&](long calls) {
    for (long i = 0; i < calls; ++i) statistic_inc(on[static_cast<std::size_t>(i & 3)], i & 1023);
  });
  const double with_y = cost(kCalls, [&](long calls) {
    for (long i = 0; i < calls; ++i) statistic_add(on[0], i & 1023, 2);
  });
  std::vector<statistic_sample> samples(1000, statistic_sample{5, 1, 0});
  const double batch = cost(kCalls, [&](long calls) {
    for (long i = 0; i < calls; i += 1000)
      statistic_add_batch(on[0], samples.data(), samples.size());
  });
  print("a bare send of 8 KiB, for each of 510 samples", bare_send(getenv("TALLY_SOCKET")));
  print("a call while it is on, time stamp and send included", one, "(wanted: at most 25 ns)");
  print("the same, four statistics in turn", four);
  print("the same, with Y", with_y);
  print("a sample of a batch of 1,000", batch);
}

}  // namespace

int main() {
  std::array<statistic*, 4> on{};
  statistic* off = nullptr;
  if (!make_statistics(on, off)) return 1;
  g_clock_read = cost(kCalls, [](long calls) {
    for (long i = 0; i < calls; ++i) keep(static_cast<long>(clock_ns(CLOCK_MONOTONIC)));
  });
  measure_off(off);
  measure_on(on);
  for (const unsigned threads : {1u, 2u, 4u}) with_threads(on, threads);

  statistic_counts counts{};
  statistic_count(&counts, sizeof counts);
  std::printf("%llu samples added, %llu confirmed, %llu dropped, %llu lost\n",
              static_cast<unsigned long long>(counts.added),
              static_cast<unsigned long long>(counts.confirmed),
              static_cast<unsigned long long>(counts.dropped),
              static_cast<unsigned long long>(counts.lost));
  return 0;
}
