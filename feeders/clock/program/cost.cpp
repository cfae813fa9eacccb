#include "feeders/clock/program/cost.h"

#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

#include "tally/clock.h"

namespace tallyfs {
namespace {

constexpr int kRounds = 200;
constexpr int kCalls = 20'000;

double cpu_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

template <typename Value>
void keep(const Value& value) {
  asm volatile("" : : "r"(value) : "memory");
}

// The time of a call, on average over a round.
template <typename Call>
double time_round(Call&& call) {
  const double begun = cpu_ns();
  for (int i = 0; i < kCalls; ++i) call();
  return (cpu_ns() - begun) / kCalls;
}

fast_timestamp_t g_stamp;

void look_at_monotonic() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  keep(now.tv_nsec);
}
void look_at_time_of_day() {
  timeval now;
  ::gettimeofday(&now, nullptr);
  keep(now.tv_usec);
}
void store() {
  store_fast_timestamp(&g_stamp);
  keep(&g_stamp);
}
void convert() {
  timeval time;
  fast_timestamp_to_timeval(&g_stamp, &time, nullptr);
  keep(time.tv_usec);
}

enum Which { kBareLoop, kMonotonic, kTimeOfDay, kCycles, kSchedClock, kStore, kConvert };

struct Measured {
  const char* what;
  double (*round)();
  Which than = kBareLoop;     // what it is to replace
  double ratio_wanted = 1e9;  // to that, at most
  double ns = 1e18;
};

// Indexed by Which.
std::array g_measured = {
    Measured{"a bare loop", [] { return time_round([] { keep(0); }); }},
    Measured{"clock_gettime(MONOTONIC)", [] { return time_round(&look_at_monotonic); }},
    Measured{"gettimeofday", [] { return time_round(&look_at_time_of_day); }},
    Measured{"get_cycles", [] { return time_round([] { keep(get_cycles()); }); }, kMonotonic, 0.6},
    Measured{"sched_clock", [] { return time_round([] { keep(sched_clock()); }); }, kMonotonic,
             0.8},
    Measured{"store_fast_timestamp", [] { return time_round(&store); }, kTimeOfDay, 0.8},
    Measured{"fast_timestamp_to_timeval", [] { return time_round(&convert); }, kTimeOfDay},
};

double ratio(const Measured& one) {
  const double bare = g_measured[kBareLoop].ns;
  return (one.ns - bare) / (g_measured[one.than].ns - bare);
}

bool print(const Measured& one) {
  std::printf("%-28s %7.2f ns", one.what, one.ns - g_measured[kBareLoop].ns);
  if (one.than != kBareLoop) std::printf("  %5.2f of %s", ratio(one), g_measured[one.than].what);
  std::printf("\n");
  return one.than == kBareLoop || ratio(one) <= one.ratio_wanted;
}

}  // namespace

// In turns, since a CPU that runs faster or slower for a while shall do so for all of them.
bool print_costs() {
  for (int round = 0; round < kRounds; ++round) {
    for (Measured& each : g_measured) each.ns = std::min(each.ns, each.round());
  }
  std::printf("%-28s %7.2f ns, taken off the others\n", "a bare loop", g_measured[kBareLoop].ns);
  bool is_as_wanted = true;
  for (std::size_t i = kMonotonic; i < g_measured.size(); ++i) is_as_wanted &= print(g_measured[i]);
  return is_as_wanted;
}

}  // namespace tallyfs
