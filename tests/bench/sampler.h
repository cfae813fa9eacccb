// Points of a store as random samples make them: so many a second on the mean, of which log2 X is
// normally distributed. Confined to one thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "tools/past/point.h"

namespace tallyfs::past {

inline constexpr std::uint64_t kSecondUs = 1'000'000;

enum class Kind { kCounter, kArray, kQuantiles, kRange, kLast, kList };

struct Sampled {
  std::uint64_t series = 0;
  Kind kind = Kind::kCounter;
  double rate = 0;    // samples a second; a kLast has one
  double octave = 0;  // the mean of log2 X
  double spread = 0;
  unsigned precision = 5;  // of quantiles
  std::int64_t value = 0;  // the newest of a kLast
};

class Sampler {
 public:
  explicit Sampler(std::uint64_t seed) : random_(seed) {}

  std::mt19937_64& random() { return random_; }

  // What a second counts.
  Point second(Sampled& statistic) {
    Point made{.known = 1};
    if (statistic.kind == Kind::kLast) {
      statistic.value += std::uniform_int_distribution<std::int64_t>(-3, 3)(random_);
      made.samples = made.number = 1;
      made.last = statistic.value;
      return made;
    }
    if (statistic.rate <= 0) return made;
    made.samples = std::poisson_distribution<std::uint64_t>(statistic.rate)(random_);
    made.number = made.samples;
    if (statistic.kind == Kind::kCounter) {
      made.total = static_cast<Int128>(made.samples);
      return made;
    }
    std::normal_distribution<double> octaves(statistic.octave, statistic.spread);
    for (std::uint64_t i = 0; i < made.samples; ++i) {
      count(made, statistic, std::max(0.0, octaves(random_)));
    }
    std::ranges::sort(made.cells, {}, &Cell::key);
    return made;
  }

 private:
  // Arrays have a bin each octave; keys of quantiles have a sign in two bits; lists have small X.
  static void count(Point& point, const Sampled& statistic, double octave) {
    if (statistic.kind != Kind::kArray) point.total += static_cast<Int128>(std::exp2(octave));
    if (statistic.kind == Kind::kRange) return;
    const std::int64_t key = key_of(statistic, octave);
    const auto found = std::ranges::find(point.cells, key, &Cell::key);
    if (found != point.cells.end())
      ++found->count;
    else
      point.cells.push_back({key, 1});
  }

  static std::int64_t key_of(const Sampled& statistic, double octave) {
    constexpr double kListXs = 16;  // an octave
    if (statistic.kind == Kind::kArray) return static_cast<std::int64_t>(octave);
    if (statistic.kind == Kind::kList) return static_cast<std::int64_t>(octave * kListXs);
    return 4 * static_cast<std::int64_t>(octave * std::exp2(statistic.precision)) + 1;
  }

  std::mt19937_64 random_;
};

}  // namespace tallyfs::past
