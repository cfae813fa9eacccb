// What a sample costs by the type of its statistic, in runs of 256, without a daemon; what views
// add; and what rules add to the creation of statistics. Each figure is the smallest of many
// rounds, in which the ways take turns, and stands beside its ratio to another of the same run.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/statistics/branch/statistics_branch.h"
#include "core/statistics/interface/interface.h"

namespace tallyfs {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kRun = 256;
constexpr std::size_t kRuns = 400;
constexpr int kRounds = 60;

struct Way {
  const char* name;
  const char* definition;
  int views = 0;
  double best_ns = 1e9;
  std::unique_ptr<statistics::Interface> interface {};
  statistics::Statistic* statistic = nullptr;
};

Timestamp now() { return {.monotonic = std::chrono::nanoseconds(1'000'000'000)}; }

void make(Way& way, Ledger& ledger) {
  way.interface = statistics::Interface::create(ledger, 0, now()).value();
  way.statistic = way.interface->create_statistic("s", way.definition, now()).value();
  for (int i = 0; i < way.views; ++i) {
    if (!way.interface->define("name=v" + std::to_string(i) + " of=s", now())) std::abort();
  }
}

double round_ns(Way& way, const std::vector<Sample>& samples) {
  const auto begin = Clock::now();
  for (std::size_t at = 0; at < samples.size(); at += kRun) {
    const statistics::Run run{way.statistic, std::span(samples).subspan(at, kRun)};
    way.interface->add({&run, 1}, now());
  }
  const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
  return took.count() / static_cast<double>(samples.size());
}

void measure_types() {
  Ledger ledger{Ledger::Limits{}};
  std::vector<Way> ways;
  const auto add = [&](const char* name, const char* definition, int views = 0) {
    ways.push_back({.name = name, .definition = definition, .views = views});
    make(ways.back(), ledger);
  };
  add("array log2", "on=1 type=array base_interval=1 scale=log2 range_min=0 range_max=67108864");
  add("value", "on=1");
  add("range", "on=1 type=range");
  add("quantiles 5", "on=1 type=quantiles precision=5 quantiles=50,99");
  add("quantiles 5 of us",
      "on=1 type=quantiles precision=5 quantiles=50,99 units=microseconds/requests");
  add("quantiles 8", "on=1 type=quantiles precision=8 quantiles=50,99");
  add("last", "on=1 type=last");
  add("range, 3 views", "on=1 type=range", 3);
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> draw(7, 1.5);
  std::vector<Sample> samples(kRun * kRuns);
  for (Sample& sample : samples) {
    sample = {.x = static_cast<std::int64_t>(draw(random)) + 1, .time = now().monotonic};
  }
  for (int i = 0; i < kRounds; ++i) {
    for (Way& way : ways) way.best_ns = std::min(way.best_ns, round_ns(way, samples));
  }
  for (const Way& way : ways) {
    std::printf("%-20s %6.2f ns a sample  %5.2f of array log2\n", way.name, way.best_ns,
                way.best_ns / ways.front().best_ns);
  }
  std::printf("three views          %6.2f of range alone\n", ways.back().best_ns / ways[2].best_ns);
}

double creation_us(int rules) {
  constexpr int kStatistics = 100'000;
  Tree tree(now());
  Ledger ledger{Ledger::Limits{}};
  statistics::StatisticsBranch statistics(tree, ledger, 0, now());
  std::string text;
  for (int i = 0; i < rules; ++i) {
    text += "block-" + std::to_string(i) + "/latencies_* type=range\n";
  }
  if (!statistics.take_rules("/r", text, now()).refused.empty()) std::abort();
  std::vector<std::string> paths;
  for (int i = 0; i < kStatistics; ++i) {
    paths.push_back("web" + std::to_string(i % 100) + "/requests_" + std::to_string(i));
  }
  const auto begin = Clock::now();
  for (const std::string& path : paths) {
    NamedSamples one;
    one.push(path, {.x = 1, .time = now().monotonic});
    if (!statistics.add(one, 0, now()).rejected.empty()) std::abort();
  }
  const std::chrono::duration<double, std::micro> took = Clock::now() - begin;
  return took.count() / kStatistics;
}

void measure_rules() {
  double without = 1e9, with = 1e9;
  for (int i = 0; i < 5; ++i) {
    without = std::min(without, creation_us(0));
    with = std::min(with, creation_us(100));
  }
  std::printf("creation             %6.2f us, under 100 rules %.2f us: %.2f\n", without, with,
              with / without);
}

}  // namespace
}  // namespace tallyfs

int main() {
  tallyfs::measure_types();
  tallyfs::measure_rules();
}
