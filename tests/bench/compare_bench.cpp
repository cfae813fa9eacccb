// What a sample costs its caller: libtally's cells beside an event of LTTng-UST and metrics of
// prometheus-cpp, off and on, in one run by one harness, beside a bare loop over the same random X
// and a clock read. Each figure is the best of kRounds, in CPU time of the calling thread, the bare
// loop taken off. TALLY_SOCKET says where the daemon is; a session daemon of LTTng runs.
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tally/statistic.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "tests/bench/lttng_events.h"

namespace {

constexpr int kRounds = 15;
constexpr long kCalls = 1'000'000;
constexpr std::size_t kValues = 4096;  // of X, in turn

double clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void keep(std::int64_t value) { asm volatile("" : : "r"(value) : "memory"); }

std::vector<std::int64_t> random_values() {
  std::mt19937_64 random(1);
  std::vector<std::int64_t> values(kValues);
  for (auto& each : values) each = static_cast<std::int64_t>(random() >> (44 + random() % 20));
  return values;
}

const std::vector<std::int64_t> g_values = random_values();

template <typename Take>
double cost(Take&& take) {
  double best = 1e18;
  for (int round = 0; round < kRounds; ++round) {
    const double begun = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < kCalls; ++i) take(g_values[static_cast<std::size_t>(i) % kValues]);
    const double took = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begun;
    best = std::min(best, took / static_cast<double>(kCalls));
  }
  return best;
}

double g_loop = 0;
double g_clock_read = 0;

void print(const std::string& what, double ns) {
  std::printf("%-58s %7.2f ns  %6.3f of a clock read\n", what.c_str(), ns - g_loop,
              (ns - g_loop) / g_clock_read);
}

void command(const std::string& line) {
  if (std::system((line + " >/dev/null").c_str()) != 0) throw std::runtime_error(line);
}

// ---- libtally

void require(int status) {
  if (status != 0) throw std::runtime_error(statistic_last_error());
}

bool goes_by_cell(statistic* of) {
  require(statistic_sync(10'000));
  statistic_inc(of, 1);
  statistic_counts counts{};
  statistic_count(&counts, sizeof counts);
  return counts.added == counts.confirmed;
}

template <typename Define>
void measure_statistic(statistic_interface* interface, const char* name, Define&& define) {
  statistic* made = nullptr;
  require(statistic_create(&made, interface, name, nullptr));
  define(made);
  require(statistic_stop(made));
  require(statistic_sync(10'000));
  const auto inc = [made](std::int64_t x) { statistic_inc(made, x); };
  print(std::string("libtally, ").append(name).append(", off"), cost(inc));
  require(statistic_start(made));
  while (!goes_by_cell(made)) continue;
  print(std::string("libtally, ").append(name).append(", on"), cost(inc));
}

void measure_libtally() {
  statistic_interface* interface = nullptr;
  require(statistic_create_interface(&interface, "compare", 0));
  measure_statistic(interface, "value", [](statistic*) {});
  measure_statistic(interface, "range", [](statistic* made) {
    require(statistic_define_range(made, STATISTIC_RANGE_MIN, STATISTIC_RANGE_MAX));
  });
  measure_statistic(interface, "array", [](statistic* made) {
    require(statistic_define_array(made, 0, 1 << 20, 1, STATISTIC_SCALE_LOG2));
  });
}

// ---- the others

void measure_lttng() {
  const auto fire = [](std::int64_t x) { lttng_ust_tracepoint(tally_bench, sample, x); };
  print("LTTng-UST, an event with X, off", cost(fire));
  // Into memory that is written over and over: nothing reads it.
  command("lttng create tally-bench --snapshot");
  command("lttng enable-event -s tally-bench -u tally_bench:sample");
  command("lttng start tally-bench");
  const double on = cost(fire);
  command("lttng destroy tally-bench");
  print("LTTng-UST, an event with X, on", on);
}

void measure_prometheus() {
  prometheus::Registry registry;
  auto& counter =
      prometheus::BuildCounter().Name("compare_total").Help("").Register(registry).Add({});
  print("prometheus-cpp, Counter::Increment()",
        cost([&](std::int64_t x) { counter.Increment(static_cast<double>(x)); }));
  prometheus::Histogram::BucketBoundaries bounds;
  for (int i = 0; i <= 20; ++i) bounds.push_back(static_cast<double>(1 << i));
  auto& histogram = prometheus::BuildHistogram()
                        .Name("compare_x")
                        .Help("")
                        .Register(registry)
                        .Add({}, bounds);
  print("prometheus-cpp, Histogram::Observe(), 21 buckets",
        cost([&](std::int64_t x) { histogram.Observe(static_cast<double>(x)); }));
}

}  // namespace

int main() {
  try {
    g_loop = cost(keep);
    g_clock_read = cost([](std::int64_t x) {
                     timespec now{};
                     clock_gettime(CLOCK_MONOTONIC, &now);
                     keep(x + now.tv_nsec);
                   }) -
                   g_loop;
    std::printf("a bare loop: %.2f ns; a clock read beyond it: %.2f ns\n", g_loop, g_clock_read);
    measure_libtally();
    measure_lttng();
    measure_prometheus();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "compare_bench: %s\n", error.what());
    return 1;
  }
}
