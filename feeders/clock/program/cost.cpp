#include "feeders/clock/program/cost.h"

#include <sys/time.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "tally/clock.h"

namespace tally {
namespace {

constexpr int kRounds = 50;
constexpr int kCalls = 100'000;

double cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <typename Value>
void keep(const Value& value) {
  asm volatile("" : : "r"(value) : "memory");
}

template <typename Call>
double with_loop(Call&& call) {
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const double begun = cpu_ns();
    for (int i = 0; i < kCalls; ++i) call();
    best = std::min(best, (cpu_ns() - begun) / kCalls);
  }
  return best;
}

double bare_loop() {
  static const double ns = with_loop([] { keep(0); });
  return ns;
}

template <typename Call>
double cost(Call&& call) {
  return with_loop(call) - bare_loop();
}

void print(const char* what, double ns, double than, const char* which) {
  std::printf("%-28s %7.2f ns  %5.2f of %s\n", what, ns, ns / than, which);
}

}  // namespace

void print_costs() {
  const double gettime = cost([] {
    timespec now;
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    keep(now.tv_nsec);
  });
  const double gettimeofday = cost([] {
    timeval now;
    ::gettimeofday(&now, nullptr);
    keep(now.tv_usec);
  });
  fast_timestamp_t stamp;
  std::printf("%-28s %7.2f ns, taken off the others\n", "a bare loop", bare_loop());
  std::printf("%-28s %7.2f ns\n%-28s %7.2f ns\n", "clock_gettime(MONOTONIC)", gettime,
              "gettimeofday", gettimeofday);
  print("get_cycles", cost([] { keep(get_cycles()); }), gettime, "clock_gettime");
  print("sched_clock", cost([] { keep(sched_clock()); }), gettime, "clock_gettime");
  const double store = cost([&] {
    store_fast_timestamp(&stamp);
    keep(&stamp);
  });
  print("store_fast_timestamp", store, gettimeofday, "gettimeofday");
  const double convert = cost([&] {
    timeval time;
    fast_timestamp_to_timeval(&stamp, &time, nullptr);
    keep(time.tv_usec);
  });
  print("fast_timestamp_to_timeval", convert, gettimeofday, "gettimeofday");
}

}  // namespace tally
