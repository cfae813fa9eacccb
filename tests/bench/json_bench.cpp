// What the files for programs cost, without a daemon: statistics.json of 10,000 interfaces,
// data.json, and metrics of 100,000 series by the type of their statistics. Each figure is the
// smallest of many rounds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>

#include "core/statistics/branch/statistics_branch.h"
#include "core/tree/tree.h"
#include "tests/bench/figures.h"

namespace tallyfs {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 20;
constexpr std::size_t kAnyLength = std::size_t{1} << 30;

Timestamp now() {
  return {.monotonic = std::chrono::seconds(1'000),
          .realtime = std::chrono::seconds(1'700'000'000)};
}

struct Fixture {
  Tree tree{now()};
  Ledger ledger{{.per_uid = {.interfaces = 1u << 20, .statistics = 1u << 20, .bytes = 1ull << 34},
                 .total = {.interfaces = 1u << 20, .statistics = 1u << 20, .bytes = 1ull << 34}}};
  statistics::StatisticsBranch statistics{tree, ledger, 0, now()};

  Fixture() { statistics.enter_metrics({}, now()); }

  void execute(const std::string& line) {
    const auto parsed = wire::parse_line(line);
    if (!statistics.execute(std::get<wire::CommandLine>(parsed.value()), Sender(0), now())) {
      std::abort();
    }
  }
  // So many interfaces of so many statistics with a sample each.
  void make(int interfaces, int statistics_of_each, const std::string& definition) {
    for (int i = 0; i < interfaces; ++i) {
      const std::string interface = std::string("interface").append(std::to_string(i));
      for (int k = 0; k < statistics_of_each; ++k) {
        const std::string path =
            std::string(interface).append("/latency").append(std::to_string(k)).append("_us");
        execute(std::string("create ").append(path).append(" on=1 ").append(definition));
        NamedSamples samples;
        samples.push(path, {.x = 1750, .y = 1, .time = now().monotonic});
        (void)statistics.add(samples, 0, now());
      }
    }
  }
  std::string read(std::string_view directory, std::string_view name) {
    NodeId node = Tree::kRoot;
    if (!directory.empty()) node = tree.lookup(node, directory).value().id;
    return tree.file(tree.lookup(node, name).value().id)
        .value()
        ->render(CallContext(now()), kAnyLength)
        .value();
  }
  double best_ms(
      std::string_view directory, std::string_view name,
      const std::function<void()>& before = [] {}) {
    double best = 1e9;
    for (int i = 0; i < kRounds; ++i) {
      before();
      const auto begin = Clock::now();
      (void)read(directory, name);
      const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
      best = std::min(best, took.count());
    }
    return best;
  }
};

void measure_overview() {
  Fixture fixture;
  fixture.make(10'000, 1, "");
  std::printf("statistics.json, 10,000 interfaces   %7.2f ms  %zu bytes\n",
              fixture.best_ms("", "statistics.json"), fixture.read("", "statistics.json").size());
}

// Interfaces of 1,000 statistics, of which only those of the first have a sample before each read;
// the others are quiet, and were read before. Beside one interface alone.
void measure_quiet() {
  constexpr int kOfEach = 1'000;
  double alone_ms = 0;
  for (const int interfaces : {1, 101, 1'000}) {
    Fixture fixture;
    fixture.make(interfaces, kOfEach, "");
    const auto move = [&] {
      for (int k = 0; k < kOfEach; ++k) {
        NamedSamples samples;
        samples.push("interface0/latency" + std::to_string(k) + "_us",
                     {.x = k, .y = 1, .time = now().monotonic});
        (void)fixture.statistics.add(samples, 0, now());
      }
    };
    const double ms = fixture.best_ms("", "statistics.json", move);
    if (interfaces == 1) alone_ms = ms;
    std::printf("statistics.json, %9d statistics, 1,000 moved %7.3f ms, %.2f of 1,000 alone\n",
                interfaces * kOfEach, ms, ms / alone_ms);
    const std::string row = std::to_string(interfaces * kOfEach) + " statistics";
    note_figure("overview", row.c_str(), "statistics.json, us", ms * 1e3);
  }
}

std::size_t series_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

void measure_metrics(const char* what, int statistics, const std::string& definition) {
  Fixture fixture;
  fixture.make(statistics / 10, 10, definition);
  const std::size_t series = series_of(fixture.read("metrics", "tallyfs.prom"));
  for (const char* file : {"tallyfs.prom", "tallyfs.om", "tallyfs.pb"}) {
    const double ms = fixture.best_ms("metrics", file);
    std::printf("%-12s %-14s %6zu series  %7.2f ms  %6.1f ns a series\n", what, file, series, ms,
                ms * 1e6 / static_cast<double>(series));
  }
}

}  // namespace
}  // namespace tallyfs

int main() {
  using tallyfs::measure_metrics;
  tallyfs::measure_overview();
  tallyfs::measure_quiet();
  measure_metrics("counters", 99'000, "units=microseconds/requests");
  measure_metrics("arrays", 3'300,
                  "type=array base_interval=1 scale=log2 range_min=0 range_max=67108864 "
                  "units=microseconds/requests");
  measure_metrics("quantiles", 10'000,
                  "type=quantiles precision=5 quantiles=50,99 units=microseconds/requests");
}
