// What the store of the past costs: a time of HOURS, simulated, of 2,370 statistics that take 9,000
// samples a second. Prints bytes of each tier for a point and for the time that it keeps, the
// writer's CPU for a second of real time, and how long queries of a day and an hour take.
//   past_bench [HOURS [SPREAD [SEED [DIR [VIEWS]]]]]    24 hours, spread 3, seed 1, no views; the
//                                                    store stays in DIR, if it is not empty
// SPREAD is how unequal the rates are, the sigma of their lognormal distribution: with 3 half of
// the statistics have a sample in 20 s or fewer, with 1.5 half have one a second. Reading the mount
// is not in it: tests/bench/past_bench_live measures the recorder as a whole. The first VIEWS of
// the statistics have a view each: a range of those of quantiles, and a copy of the others.
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/bench/sampler.h"
#include "tools/past/derived_point.h"
#include "tools/past/moment_source.h"
#include "tools/past/span_source.h"
#include "tools/past/store_writer.h"

namespace tallyfs::past {
namespace {

constexpr std::size_t kStatistics = 2370;
constexpr std::size_t kLists = 10;  // the last of them
constexpr double kSamplesPerSecond = 9000;
constexpr std::uint64_t kBeginUs = 1'795'737'600 * kSecondUs;

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

class World {
 public:
  World(StoreWriter& writer, double spread, std::uint64_t seed, std::size_t views)
      : writer_(writer), sampler_(seed) {
    std::lognormal_distribution<double> weight(0, spread);
    double sum = 0;
    for (std::size_t i = 0; i < kStatistics; ++i) {
      statistics_.push_back(made(i, weight(sampler_.random())));
      sum += statistics_.back().kind == Kind::kLast ? 0 : statistics_.back().rate;
    }
    for (Sampled& each : statistics_) each.rate *= kSamplesPerSecond / sum;
    for (std::size_t i = 0; i < std::min(views, kStatistics); ++i) {
      const bool is_range = statistics_[i].kind == Kind::kQuantiles;
      views_.push_back({.series = writer_.series("web" + std::to_string(i / 10),
                                                 "v" + std::to_string(i), R"({"values":{}})"),
                        .how = is_range ? Derivation::kRange : Derivation::kAll});
    }
  }

  // Returns the samples of a second, whose points go to the writer.
  std::uint64_t second(std::uint64_t moment_us) {
    std::vector<Point> points;
    std::uint64_t samples = 0;
    for (Sampled& each : statistics_) {
      points.push_back(sampler_.second(each));
      if (each.kind != Kind::kLast) samples += points.back().samples;
    }
    std::vector<Point> of_views;
    for (std::size_t i = 0; i < views_.size(); ++i) {
      of_views.push_back(derived_point(points[i], views_[i].how, {}));
    }
    const double before = cpu_seconds();
    writer_.go_to(moment_us);
    for (std::size_t i = 0; i < points.size(); ++i) {
      writer_.add(statistics_[i].series, points[i],
                  {.is_list = statistics_[i].kind == Kind::kList,
                   .precision = statistics_[i].kind == Kind::kQuantiles ? 5u : 0u});
    }
    for (std::size_t i = 0; i < views_.size(); ++i) {
      writer_.add(views_[i].series, of_views[i],
                  {.is_list = statistics_[i].kind == Kind::kList,
                   .source = statistics_[i].series,
                   .how = views_[i].how});
    }
    if (writer_.is_due() && !writer_.flush()) std::abort();
    cpu_ += cpu_seconds() - before;
    return samples;
  }
  double cpu() const { return cpu_; }

 private:
  struct View {
    std::uint64_t series = 0;
    Derivation how = Derivation::kNone;
  };

  Sampled made(std::size_t number, double rate) {
    constexpr std::array kKinds = {Kind::kCounter, Kind::kCounter,   Kind::kArray, Kind::kRange,
                                   Kind::kCounter, Kind::kQuantiles, Kind::kArray, Kind::kRange,
                                   Kind::kLast,    Kind::kQuantiles};
    constexpr std::array kShapes = {
        R"("type":"value","values":{}})",
        R"("type":"array","scale":"log2","values":{"bounds":[1,2,4,8,16,32,64,128,256,512,1024]}})",
        R"("type":"quantiles","precision":5,"values":{"quantiles":[{"q":50},{"q":99}]}})",
        R"("type":"range","values":{}})", R"("type":"last","values":{}})",
        R"("type":"list","values":{}})"};
    const bool is_list = number + kLists >= kStatistics;
    Sampled made{.kind = is_list ? Kind::kList : kKinds[number % kKinds.size()], .rate = rate};
    std::uniform_real_distribution<double> octave(3, 16);
    made.octave = octave(sampler_.random());
    made.spread = 0.5 + octave(sampler_.random()) / 16;
    const std::string name = "s" + std::to_string(number);
    const std::string head = R"({"name":")" + name + R"(","units":"us",)";
    made.series = writer_.series("web" + std::to_string(number / 10), name,
                                  head + kShapes[static_cast<std::size_t>(made.kind)]);
    return made;
  }

  StoreWriter& writer_;
  Sampler sampler_;
  std::vector<Sampled> statistics_;
  std::vector<View> views_;  // of the first statistics
  double cpu_ = 0;
};

void print_sizes(const std::string& directory, const Tiers& tiers) {
  auto database = Database::open_to_read(file_of(directory)).value();
  double sum = 0;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    const std::string where = " FROM block WHERE tier=" + std::to_string(i);
    const auto bytes = database.number("SELECT sum(length(data))" + where).value();
    const auto time = database.number("SELECT max(end_us)-min(begin_us)" + where).value();
    const double point = static_cast<double>(bytes) * static_cast<double>(tiers[i].step_us) /
                         static_cast<double>(std::max<std::uint64_t>(time, 1));
    const double kept = point * static_cast<double>(tiers[i].keep_us / tiers[i].step_us);
    sum += kept;
    std::printf("tier of %3llu s: %6.2f KB a point, %7.1f MB for the time that it keeps\n",
                static_cast<unsigned long long>(tiers[i].step_us / kSecondUs), point / 1e3,
                kept / 1e6);
  }
  std::printf("all tiers, when they are full: %.0f MB of blocks\n", sum / 1e6);
  const auto pages = database.number("PRAGMA page_count").value();
  std::printf("file now: %.1f MB\n", static_cast<double>(pages) * 4096 / 1e6);
}

template <typename Query>
void print_query(const std::string& name, const Query& query) {
  std::vector<double> took;
  for (std::size_t i = 0; i < 9; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    query(i);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    took.push_back(time.count());
  }
  std::ranges::sort(took);
  std::printf("%s: %.1f ms (median of 9; %.1f to %.1f)\n", name.c_str(), took[4], took.front(),
              took.back());
}

class Queries {
 public:
  Queries(std::string directory, std::uint64_t end_us)
      : directory_(std::move(directory)), end_us_(end_us) {}

  void print_interface(const char* name, std::uint64_t length_us) const {
    print_query(std::string(name) + " of one interface of ten statistics", [&](std::size_t i) {
      sum("web" + std::to_string(i * 20), {}, length_us);
    });
  }
  // The sum of the time, as `show` has it, its points, as lines of the page do, and those of its
  // map, which has whole octaves.
  void print_statistic(const char* type, std::size_t first, std::size_t step,
                       std::uint64_t length_us) const {
    const std::string name = std::string("a day  of one ") + type;
    const auto number = [&](std::size_t i) { return first + step * i; };
    const auto interface = [&](std::size_t i) { return "web" + std::to_string(number(i) / 10); };
    const auto statistic = [&](std::size_t i) { return "s" + std::to_string(number(i)); };
    print_query(name + ", its sum   ", [&](std::size_t i) {
      sum(interface(i), {interface(i) + "/" + statistic(i)}, length_us);
    });
    print_query(name + ", its points", [&](std::size_t i) {
      points(interface(i), statistic(i), UINT_MAX, length_us);
    });
    print_query(name + ", its map   ",
                [&](std::size_t i) { points(interface(i), statistic(i), 0, length_us); });
  }

 private:
  Span span(std::uint64_t length_us) const {
    return {end_us_ - std::min(length_us, end_us_ - kBeginUs), end_us_};
  }
  void points(const std::string& interface, const std::string& statistic, unsigned precision,
              std::uint64_t length_us) const {
    auto source = MomentSource::open(StoreReader::open(directory_).value(), span(length_us),
                                     {.interface = interface,
                                      .statistics = {statistic},
                                      .points = 300,
                                      .precision = precision});
    if (!source) std::abort();
    while (source.value()->next({}).value() != Source::Next::kEnd) {
      if (!source.value()->newest(statistic)) std::abort();
    }
  }
  void sum(const std::string& interface, const std::vector<std::string>& words,
           std::uint64_t length_us) const {
    auto source =
        SpanSource::open(StoreReader::open(directory_).value(), span(length_us), words).value();
    if (!source->interface(interface)) std::abort();
  }

  const std::string directory_;
  const std::uint64_t end_us_;
};

void print_queries(const std::string& directory, std::uint64_t end_us) {
  constexpr std::uint64_t kDayUs = 86'400 * kSecondUs;
  const Queries queries(directory, end_us);
  queries.print_interface("a day ", kDayUs);
  queries.print_interface("an hour", 3600 * kSecondUs);
  queries.print_interface("a minute", 61 * kSecondUs);
  queries.print_statistic("value", 0, 200, kDayUs);
  queries.print_statistic("array", 2, 200, kDayUs);
  queries.print_statistic("quantiles", 5, 200, kDayUs);
  queries.print_statistic("list", kStatistics - kLists, 1, kDayUs);
}

int run(std::uint64_t hours, double spread, std::uint64_t seed, const char* kept,
        std::size_t views) {
  std::string directory = kept ? kept : "/tmp/past_bench.XXXXXX";
  if (!kept && !::mkdtemp(directory.data())) return 1;
  const Tiers tiers = parse_tiers(kDefaultTiers).value();
  auto writer = StoreWriter::open(directory, {.tiers = tiers}).value();
  World world(*writer, spread, seed, views);
  const std::uint64_t seconds = hours * 3600;
  std::uint64_t samples = 0;
  for (std::uint64_t i = 0; i < seconds; ++i) {
    samples += world.second(kBeginUs + i * kSecondUs + kSecondUs / 2);
  }
  std::printf("%zu statistics, %.0f samples/s, %llu hours simulated\n", kStatistics,
              static_cast<double>(samples) / static_cast<double>(seconds),
              static_cast<unsigned long long>(hours));
  std::printf("writer: %.2f %% of a core\n", 100 * world.cpu() / static_cast<double>(seconds));
  const std::uint64_t end_us = kBeginUs + seconds * kSecondUs - 3 * kSecondUs;
  print_sizes(directory, tiers);
  print_queries(directory, end_us - 7 * kSecondUs);
  writer.reset();
  if (!kept) std::filesystem::remove_all(directory);
  return 0;
}

}  // namespace
}  // namespace tallyfs::past

int main(int argc, char** argv) {
  const std::uint64_t hours = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 24;
  const double spread = argc > 2 ? std::strtod(argv[2], nullptr) : 3;
  const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  const char* const kept = argc > 4 && *argv[4] ? argv[4] : nullptr;
  const std::size_t views = argc > 5 ? std::strtoull(argv[5], nullptr, 10) : 0;
  return tallyfs::past::run(std::max<std::uint64_t>(hours, 1), spread, seed, kept, views);
}
