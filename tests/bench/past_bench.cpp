// What the store of the past costs: a time of HOURS, simulated, of 2,370 statistics that take 9,000
// samples a second. Prints bytes of each tier for a point and for the time that it keeps, the
// writer's CPU for a second of real time, and how long queries of a day and an hour take.
//   past_bench [HOURS [SPREAD [SEED]]]    24 hours, spread 3, seed 1
// SPREAD is how unequal the rates are, the sigma of their lognormal distribution: with 3 half of
// the statistics have a sample in 20 s or fewer, with 1.5 half have one a second. Reading the mount
// is not in it: tests/bench/past_bench_live measures the recorder as a whole.
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

#include "tools/past/span_source.h"
#include "tools/past/store_writer.h"

namespace tallyfs::past {
namespace {

constexpr std::size_t kStatistics = 2370;
constexpr double kSamplesPerSecond = 9000;
constexpr std::uint64_t kSecondUs = 1'000'000;
constexpr std::uint64_t kBeginUs = 1'795'737'600 * kSecondUs;

enum class Kind { kCounter, kArray, kQuantiles, kRange, kLast };

struct Model {
  std::uint64_t series = 0;
  Kind kind = Kind::kCounter;
  double rate = 0;
  double median = 0;
  double octaves = 0;  // the spread of X
  std::int64_t value = 0;
};

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

class World {
 public:
  World(StoreWriter& writer, double spread, std::uint64_t seed) : writer_(writer), random_(seed) {
    std::lognormal_distribution<double> weight(0, spread);
    double sum = 0;
    for (std::size_t i = 0; i < kStatistics; ++i) {
      models_.push_back(made(i, weight(random_)));
      sum += models_.back().kind == Kind::kLast ? 0 : models_.back().rate;
    }
    for (Model& each : models_) each.rate *= kSamplesPerSecond / sum;
  }

  // Returns the samples of a second, whose points go to the writer.
  std::uint64_t second(std::uint64_t moment_us) {
    std::vector<Point> points;
    std::uint64_t samples = 0;
    for (Model& each : models_) {
      points.push_back(point(each));
      if (each.kind != Kind::kLast) samples += points.back().samples;
    }
    const double before = cpu_seconds();
    writer_.go_to(moment_us);
    for (std::size_t i = 0; i < points.size(); ++i) {
      writer_.add(models_[i].series, points[i],
                  {.precision = models_[i].kind == Kind::kQuantiles ? 5u : 0u});
    }
    if (writer_.is_due() && !writer_.flush()) std::abort();
    cpu_ += cpu_seconds() - before;
    return samples;
  }
  double cpu() const { return cpu_; }

 private:
  Model made(std::size_t number, double rate) {
    constexpr std::array kKinds = {Kind::kCounter, Kind::kCounter,   Kind::kArray, Kind::kRange,
                                   Kind::kCounter, Kind::kQuantiles, Kind::kArray, Kind::kRange,
                                   Kind::kLast,    Kind::kQuantiles};
    constexpr std::array kShapes = {
        R"("type":"value","values":{}})",
        R"("type":"array","scale":"log2","values":{"bounds":[1,2,4,8,16,32,64,128,256,512,1024]}})",
        R"("type":"quantiles","precision":5,"values":{"quantiles":[{"q":50},{"q":99}]}})",
        R"("type":"range","values":{}})", R"("type":"last","values":{}})"};
    Model model{.kind = kKinds[number % kKinds.size()], .rate = rate};
    std::uniform_real_distribution<double> octave(3, 16);
    model.median = std::exp2(octave(random_));
    model.octaves = 0.5 + octave(random_) / 16;
    const std::string name = "s" + std::to_string(number);
    const std::string head = R"({"name":")" + name + R"(","units":"us",)";
    model.series = writer_.series("web" + std::to_string(number / 10), name,
                                  head + kShapes[static_cast<std::size_t>(model.kind)]);
    return model;
  }

  Point point(Model& model) {
    Point made{.known = 1};
    if (model.kind == Kind::kLast) {
      model.value += std::uniform_int_distribution<std::int64_t>(-3, 3)(random_);
      made.samples = made.number = 1;
      made.last = model.value;
      return made;
    }
    made.samples = std::poisson_distribution<std::uint64_t>(model.rate)(random_);
    made.number = made.samples;
    if (model.kind == Kind::kCounter) made.total = static_cast<Int128>(made.samples);
    std::normal_distribution<double> spread(0, model.octaves);
    for (std::uint64_t i = 0; model.kind != Kind::kCounter && i < made.samples; ++i) {
      const double octave = std::log2(model.median) + spread(random_);
      if (model.kind != Kind::kArray) made.total += static_cast<Int128>(std::exp2(octave));
      // Precision 5 has 32 buckets an octave; keys of quantiles have a sign in two bits.
      if (model.kind == Kind::kArray) count(made, static_cast<std::int64_t>(std::max(0.0, octave)));
      if (model.kind == Kind::kQuantiles) {
        count(made, 4 * static_cast<std::int64_t>(octave * 32) + 1);
      }
    }
    std::ranges::sort(made.cells, {}, &Cell::key);
    return made;
  }
  static void count(Point& point, std::int64_t key) {
    const auto found = std::ranges::find(point.cells, key, &Cell::key);
    if (found != point.cells.end())
      ++found->count;
    else
      point.cells.push_back({key, 1});
  }

  StoreWriter& writer_;
  std::mt19937_64 random_;
  std::vector<Model> models_;
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

void print_query(const std::string& directory, const char* name, std::uint64_t end_us,
                 std::uint64_t length_us) {
  std::vector<double> took;
  for (int i = 0; i < 9; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    auto source = SpanSource::open(StoreReader::open(directory).value(),
                                   {end_us - std::min(length_us, end_us - kBeginUs), end_us})
                      .value();
    const auto json = source->interface("web" + std::to_string(i * 20));
    if (!json) std::abort();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    took.push_back(time.count());
  }
  std::ranges::sort(took);
  std::printf("%s of one interface of ten statistics: %.1f ms (median of 9; %.1f to %.1f)\n", name,
              took[4], took.front(), took.back());
}

int run(std::uint64_t hours, double spread, std::uint64_t seed) {
  std::string directory = "/tmp/past_bench.XXXXXX";
  if (!::mkdtemp(directory.data())) return 1;
  const Tiers tiers = parse_tiers(kDefaultTiers).value();
  auto writer = StoreWriter::open(directory, {.tiers = tiers}).value();
  World world(*writer, spread, seed);
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
  print_query(directory, "a day ", end_us - 7 * kSecondUs, 86'400 * kSecondUs);
  print_query(directory, "an hour", end_us - 7 * kSecondUs, 3600 * kSecondUs);
  print_query(directory, "a minute", end_us - 7 * kSecondUs, 61 * kSecondUs);
  writer.reset();
  std::filesystem::remove_all(directory);
  return 0;
}

}  // namespace
}  // namespace tallyfs::past

int main(int argc, char** argv) {
  const std::uint64_t hours = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 24;
  const double spread = argc > 2 ? std::strtod(argv[2], nullptr) : 3;
  const std::uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  return tallyfs::past::run(std::max<std::uint64_t>(hours, 1), spread, seed);
}
