// A store in which something changed: eleven minutes of STATISTICS, half of them
// quantiles and half counters, which take four samples a second each on the mean, most of them few.
// For the last FAULT seconds web0/latency_us is six times as slow, and all counters of web1 are
// silent.
//   changed_store DIR [STATISTICS [AHEAD [WRITES [FAULT]]]]      100, 20 s, once, 30 s
// The store ends AHEAD seconds from now, so that a reader finds it fresh for so long. WRITES: so
// many times ten seconds are added then, in as much real time.
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/sampler.h"
#include "tools/past/store_writer.h"

namespace tallyfs::past {
namespace {

constexpr std::uint64_t kSeconds = 11 * 60;
constexpr unsigned kPrecision = 4;
constexpr std::size_t kInInterface = 10;

class World {
 public:
  World(StoreWriter& writer, std::size_t statistics) : writer_(writer) {
    std::lognormal_distribution<double> rate(-2, 2);
    std::uniform_real_distribution<double> octave(4, 12);
    for (std::size_t i = 0; i < statistics; ++i) {
      Sampled made{.kind = i % 2 == 1 ? Kind::kCounter : Kind::kQuantiles,
                   .spread = 0.7,
                   .precision = kPrecision};
      made.rate = i < 2 * kInInterface ? 20 : rate(sampler_.random());
      made.octave = octave(sampler_.random());
      const std::string name = i == 0 ? "latency_us" : "s" + std::to_string(i);
      const std::string type =
          is_counter(made) ? R"("type":"value","units":"requests","values":{}})"
                           : R"("units":"microseconds/requests","type":"quantiles","precision":4,)"
                             R"("values":{"quantiles":[{"q":50},{"q":99}]}})";
      made.series = writer_.series("web" + std::to_string(i / kInInterface), name,
                                   R"({"name":")" + name + R"(",)" + type);
      statistics_.push_back(made);
    }
  }

  void write_second(std::uint64_t moment_us, bool has_fault) {
    writer_.go_to(moment_us + kSecondUs / 2);
    for (std::size_t i = 0; i < statistics_.size(); ++i) {
      Sampled now = statistics_[i];
      if (has_fault && i == 0) now.octave += std::log2(6);
      if (has_fault && i / kInInterface == 1 && is_counter(now)) now.rate = 0;
      writer_.add(now.series, sampler_.second(now),
                  {.precision = is_counter(now) ? 0u : kPrecision});
    }
  }

 private:
  static bool is_counter(const Sampled& each) { return each.kind == Kind::kCounter; }

  StoreWriter& writer_;
  Sampler sampler_{21};
  std::vector<Sampled> statistics_;
};

int run(const std::string& directory, std::array<std::uint64_t, 4> numbers) {
  auto writer = StoreWriter::open(directory, {.tiers = parse_tiers(kDefaultTiers).value()});
  if (!writer) return std::fprintf(stderr, "%s\n", writer.error().reason.c_str()), 1;
  const auto& [statistics, ahead, writes, fault] = numbers;
  World world(*writer.value(), static_cast<std::size_t>(statistics));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now).count();
  const std::uint64_t end = static_cast<std::uint64_t>(seconds) + ahead;
  for (std::uint64_t at = end - kSeconds; at < end; ++at) {
    world.write_second(at * kSecondUs, at >= end - fault);
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
  return tallyfs::past::run(argv[1], {number(2, 100), number(3, 20), number(4, 0), number(5, 30)});
}
