// What the table "Most changed" of the page costs tally-web: of a store of 10,000 statistics, half
// of them distributions, that grows by 10 s at a time, as a recorder writes it. Prints the CPU time
// of its first making, of those with new points, and of those without.
//   landing_bench [STATISTICS [SEED]]    10,000 statistics, seed 1
#include <stdlib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "exporters/web/changes.h"
#include "tests/bench/sampler.h"
#include "tests/bench/sender.h"
#include "tools/past/store_writer.h"
#include "tools/tree/json.h"

namespace tallyfs::past {
namespace {

constexpr std::uint64_t kBeginUs = 1'795'737'600 * kSecondUs;
constexpr std::uint64_t kBeforeSeconds = 660;
constexpr std::uint64_t kWriteSeconds = 10;
constexpr std::size_t kMakings = 12;
constexpr double kGoalMs = 50;

double cpu_ms() { return bench::clock_ns(CLOCK_THREAD_CPUTIME_ID) / 1e6; }

class World {
 public:
  World(StoreWriter& writer, std::size_t statistics, std::uint64_t seed)
      : writer_(writer), sampler_(seed) {
    // Half of them have a sample in 3 s or fewer.
    std::lognormal_distribution<double> rate(-1, 2);
    for (std::size_t i = 0; i < statistics; ++i) {
      statistics_.push_back(made(i, std::min(rate(sampler_.random()), 500.0)));
    }
  }

  void seconds(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i, now_us_ += kSecondUs) {
      writer_.go_to(now_us_ + kSecondUs / 2);
      for (Sampled& each : statistics_) {
        writer_.add(each.series, sampler_.second(each),
                    {.precision = each.kind == Kind::kQuantiles ? 5u : 0u});
      }
      if (writer_.is_due() && !writer_.flush()) std::abort();
    }
    if (!writer_.flush()) std::abort();
  }
  std::uint64_t now_us() const { return now_us_; }

 private:
  Sampled made(std::size_t number, double rate) {
    constexpr std::array kKinds = {Kind::kCounter, Kind::kArray, Kind::kRange, Kind::kQuantiles};
    constexpr std::array kShapes = {
        R"("type":"value","values":{}})",
        R"("type":"array","scale":"log2","values":{"bounds":[1,2,4,8,16,32,64,128,256,512,1024]}})",
        R"("type":"range","values":{}})",
        R"("type":"quantiles","precision":5,"values":{"quantiles":[{"q":50},{"q":99}]}})"};
    const std::size_t which = number % kKinds.size();
    Sampled made{.kind = kKinds[which], .rate = rate};
    std::uniform_real_distribution<double> octave(3, 9);
    made.octave = octave(sampler_.random());
    made.spread = 0.5 + octave(sampler_.random()) / 16;
    const std::string name = "s" + std::to_string(number);
    made.series = writer_.series("web" + std::to_string(number / 10), name,
                                 R"({"name":")" + name + R"(","units":"us",)" + kShapes[which]);
    return made;
  }

  StoreWriter& writer_;
  Sampler sampler_;
  std::vector<Sampled> statistics_;
  std::uint64_t now_us_ = kBeginUs;
};

class Landing {
 public:
  explicit Landing(const std::string& directory)
      : changes_(directory, [this] { return web::Changes::Clock::now() + ahead_; }) {}

  // As a page asks again, kEach later; returns the CPU time.
  double make(std::uint64_t now_us) {
    ahead_ += web::Changes::kEach;
    const double begin = cpu_ms();
    text_ = changes_.json(now_us);
    return cpu_ms() - begin;
  }
  Json json() const { return parse_json(text_).value(); }

 private:
  std::chrono::seconds ahead_{0};
  web::Changes changes_;
  std::string text_;
};

void print(const char* what, std::vector<double> took) {
  std::ranges::sort(took);
  std::printf("%s: %.1f ms of CPU, median of %zu (%.1f to %.1f)\n", what, took[took.size() / 2],
              took.size(), took.front(), took.back());
}

int run(std::size_t statistics, std::uint64_t seed) {
  std::string directory = "/tmp/landing_bench.XXXXXX";
  if (!::mkdtemp(directory.data())) return 1;
  auto writer = StoreWriter::open(directory, {.tiers = parse_tiers(kDefaultTiers).value()}).value();
  World world(*writer, statistics, seed);
  world.seconds(kBeforeSeconds);
  Landing landing(directory);
  double first = 0;
  std::size_t parts = 0;
  do {
    first += landing.make(world.now_us());
    ++parts;
  } while (landing.json().text_of("state") == "reading");
  std::vector<double> fresh;
  std::vector<double> same;
  for (std::size_t i = 0; i < kMakings; ++i) {
    world.seconds(kWriteSeconds);
    fresh.push_back(landing.make(world.now_us()));
    same.push_back(landing.make(world.now_us()));
  }
  const Json made = landing.json();
  std::printf("%zu statistics in the store: %llu ranked, %llu left out\n", statistics,
              static_cast<unsigned long long>(made.number_of("ranked")),
              static_cast<unsigned long long>(made.number_of("left_out")));
  std::printf("the first table: %.0f ms of CPU, in %zu answers\n", first, parts);
  print("the table after 10 s more", fresh);
  print("without new points       ", same);
  std::printf("wanted: at most %.0f ms\n", kGoalMs);
  writer.reset();
  std::filesystem::remove_all(directory);
  return 0;
}

}  // namespace
}  // namespace tallyfs::past

int main(int argc, char** argv) {
  const std::size_t statistics = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return tallyfs::past::run(std::max<std::size_t>(statistics, 1), seed);
}
