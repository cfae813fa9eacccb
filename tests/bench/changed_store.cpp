// A store in which something changed: eleven minutes of STATISTICS, half of them
// quantiles and half counters, which take four samples a second each on the mean, most of them few.
// For the last 30 s web0/latency_us is six times as slow, and all counters of web1 are silent.
//   changed_store DIR [STATISTICS [AHEAD [WRITES]]]      100, 20 s, once
// The store ends AHEAD seconds from now, so that a reader finds it fresh for so long. WRITES: so
// many times ten seconds are added then, in as much real time.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tools/past/store_writer.h"

namespace tallyfs::past {
namespace {

constexpr std::uint64_t kSecondUs = 1'000'000;
constexpr std::uint64_t kSeconds = 11 * 60;
constexpr std::uint64_t kFaultSeconds = 30;
constexpr unsigned kPrecision = 4;
constexpr std::size_t kInInterface = 10;

struct Model {
  std::uint64_t series = 0;
  std::size_t interface = 0;
  bool is_counter = false;
  double rate = 0;
  double octave = 0;
};

class World {
 public:
  World(StoreWriter& writer, std::size_t statistics) : writer_(writer) {
    std::lognormal_distribution<double> rate(-2, 2);
    std::uniform_real_distribution<double> octave(4, 12);
    for (std::size_t i = 0; i < statistics; ++i) {
      Model made{.interface = i / kInInterface, .is_counter = i % 2 == 1};
      made.rate = i < 2 * kInInterface ? 20 : rate(random_);
      made.octave = octave(random_);
      const std::string name = i == 0 ? "latency_us" : "s" + std::to_string(i);
      const std::string type =
          made.is_counter ? R"("type":"value","units":"requests","values":{}})"
                          : R"("units":"microseconds/requests","type":"quantiles","precision":4,)"
                            R"("values":{"quantiles":[{"q":50},{"q":99}]}})";
      made.series = writer_.series("web" + std::to_string(made.interface), name,
                                   R"({"name":")" + name + R"(",)" + type);
      models_.push_back(made);
    }
  }

  void write_second(std::uint64_t moment_us, bool has_fault) {
    writer_.go_to(moment_us + kSecondUs / 2);
    for (const Model& each : models_) {
      writer_.add(each.series, point(each, has_fault),
                  {.precision = each.is_counter ? 0u : kPrecision});
    }
  }

 private:
  Point point(const Model& model, bool has_fault) {
    Point made{.known = 1};
    const bool is_silent = has_fault && model.interface == 1 && model.is_counter;
    if (!is_silent) made.samples = std::poisson_distribution<std::uint64_t>(model.rate)(random_);
    made.number = made.samples;
    made.total = static_cast<Int128>(made.samples);
    if (model.is_counter) return made;
    std::normal_distribution<double> spread(model.octave, 0.7);
    const double slower = has_fault && model.series == models_.front().series ? std::log2(6) : 0;
    for (std::uint64_t i = 0; i < made.samples; ++i) {
      const double octave = std::max(1.0, spread(random_) + slower);
      made.total += static_cast<Int128>(std::exp2(octave));
      count(made, 4 * static_cast<std::int64_t>(octave * (1 << kPrecision)) + 1);
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
  std::mt19937_64 random_{21};
  std::vector<Model> models_;
};

int run(const std::string& directory, std::array<std::uint64_t, 3> numbers) {
  auto writer = StoreWriter::open(directory, {.tiers = parse_tiers(kDefaultTiers).value()});
  if (!writer) return std::fprintf(stderr, "%s\n", writer.error().reason.c_str()), 1;
  const auto& [statistics, ahead, writes] = numbers;
  World world(*writer.value(), static_cast<std::size_t>(statistics));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  const std::uint64_t end = static_cast<std::uint64_t>(seconds) + ahead;
  for (std::uint64_t at = end - kSeconds; at < end; ++at) {
    world.write_second(at * kSecondUs, at >= end - kFaultSeconds);
  }
  if (!writer.value()->flush()) return 1;
  std::puts("READY");
  std::fflush(stdout);
  for (std::uint64_t i = 0; i < writes; ++i) {
    std::this_thread::sleep_for(std::chrono::seconds(10));
    for (std::uint64_t at = end + 10 * i; at < end + 10 * (i + 1); ++at) {
      world.write_second(at * kSecondUs, true);
    }
    if (!writer.value()->flush()) return 1;
  }
  return writer.value()->end() ? 0 : 1;
}

}  // namespace
}  // namespace tallyfs::past

int main(int argc, char** argv) {
  const auto number = [&](int at, std::uint64_t otherwise) {
    return argc > at ? std::strtoull(argv[at], nullptr, 10) : otherwise;
  };
  if (argc < 2) return 2;
  return tallyfs::past::run(argv[1], {number(2, 100), number(3, 20), number(4, 0)});
}
