// A simulated world of 2,000 unremarkable statistics in interfaces of 24 to 30, second by second,
// for the trial of "what changed most". As real ones they are unkind: the load of all and of each
// interface wanders and waves, some statistics have bursts each minute or each five, spikes, modes
// that wander, batches, coarse bins, hardly a sample; gauges walk. A fault can be put into it.
//
// The same seed makes the same world: each statistic draws from a generator of its own, so that a
// fault in one changes no other. Confined to one thread.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "tools/display/past.h"

namespace tallyfs {

// SplitMix64: small enough that each statistic has one.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double unit() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  double from_to(double low, double high) { return low + unit() * (high - low); }
  double log_from_to(double low, double high) {
    return std::exp(from_to(std::log(low), std::log(high)));
  }
  std::size_t below(std::size_t end) { return static_cast<std::size_t>(bits() % end); }
  bool chance(double part) { return unit() < part; }
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }
  std::uint64_t poisson(double mean) {
    if (mean > 50) {
      return static_cast<std::uint64_t>(
          std::max(0.0, std::round(mean + std::sqrt(mean) * normal())));
    }
    std::uint64_t drawn = 0;
    for (double product = unit(), end = std::exp(-mean); product > end; product *= unit()) ++drawn;
    return drawn;
  }

 private:
  std::uint64_t state_;
};

struct Fault {
  enum class Kind : std::uint8_t {
    kSlower2,
    kSlower6,
    kTail,
    kMode,
    kRareErrors,
    kErrors,
    kSilentInterface,
    kSilent,
    kGauge,
    kLoad,
    kBurst
  };
  Kind kind = Kind::kSlower2;
  int begin = 0;  // seconds, of the world
  int end = 0;
  bool holds(int second) const { return second >= begin && second < end; }
};

struct Model {
  enum class Kind : std::uint8_t { kQuantiles, kLog2Array, kCounter, kRange, kGauge };
  Kind kind = Kind::kCounter;
  std::size_t interface = 0;
  std::uint64_t seed = 0;
  double rate = 1;
  double follows_load = 1;
  double batch = 1;
  double burst = 1;  // how many times the rate, in a burst
  int burst_period = 60;
  int burst_phase = 0;
  int burst_length = 5;
  double spikes = 0;  // a second
  double level = 10;  // log2 of the median
  double sigma = 0.7;
  double wander = 0.1;
  double second_mode = 0;  // its share
  double second_level = 2;
  double grid = 0;  // quantised X: octaves between
  double walk = 0;  // of a gauge, a second
  bool is_whole = false;

  bool has_distribution() const { return kind == Kind::kQuantiles || kind == Kind::kLog2Array; }
  double bucket_octaves() const { return kind == Kind::kLog2Array ? 1 : 0.25; }
};

class World {
 public:
  static constexpr std::size_t kStatistics = 2'000;
  static constexpr int kSeconds = 1'200;

  explicit World(std::uint64_t seed) : draw_(seed * 0x2545f4914f6cdd1d + 1) {
    common_ = wandering(draw_.from_to(0.03, 0.1), 120, 0.1, draw_.from_to(240, 900));
    while (models_.size() < kStatistics) add_interface();
  }

  const std::vector<Model>& models() const { return models_; }
  std::size_t interfaces() const { return loads_.size(); }

  // Of the whole time; with a fault, if it is in this one.
  view::Past past(const Model& model, const Fault* fault = nullptr) const {
    return Life(*this, model, fault).past();
  }

 private:
  using Series = std::vector<float>;

  // A factor around 1, of AR(1) noise and a wave.
  Series wandering(double sd, double seconds, double wave, double period) {
    Series made;
    const double keep = std::exp(-1 / seconds);
    double noise = sd * draw_.normal();
    const double phase = draw_.from_to(0, 2 * std::numbers::pi);
    for (int t = 0; t < kSeconds; ++t) {
      noise = keep * noise + sd * std::sqrt(1 - keep * keep) * draw_.normal();
      made.push_back(static_cast<float>(
          std::exp(noise + wave * std::sin(phase + 2 * std::numbers::pi * t / period))));
    }
    return made;
  }

  void add_interface() {
    loads_.push_back(wandering(draw_.from_to(0.03, 0.2), draw_.log_from_to(10, 120),
                               draw_.chance(0.5) ? draw_.from_to(0, 0.25) : 0,
                               draw_.log_from_to(60, 600)));
    const std::size_t size = 24 + draw_.below(7);
    for (std::size_t i = 0; i < size && models_.size() < kStatistics; ++i) {
      models_.push_back(unremarkable(loads_.size() - 1));
    }
  }

  Model unremarkable(std::size_t interface) {
    Model made{.interface = interface, .seed = draw_.bits()};
    const double kind = draw_.unit();
    made.kind = kind < 0.4    ? Model::Kind::kQuantiles
                : kind < 0.5  ? Model::Kind::kLog2Array
                : kind < 0.85 ? Model::Kind::kCounter
                : kind < 0.9  ? Model::Kind::kRange
                              : Model::Kind::kGauge;
    made.rate = draw_.log_from_to(0.02, 300);
    if (draw_.chance(0.05)) made.rate = draw_.log_from_to(0.001, 0.02);
    if (made.kind == Model::Kind::kCounter && draw_.chance(0.1)) {
      made.rate = draw_.chance(0.5) ? 0.05 : 5;
    }
    made.follows_load = draw_.from_to(0.3, 1);
    add_temper(made);
    made.level = draw_.from_to(5, 17);
    made.sigma = draw_.from_to(0.5, 1.4);
    made.wander = draw_.from_to(0.02, 0.15);
    if (draw_.chance(0.15)) made.second_mode = draw_.from_to(0.02, 0.2);
    made.second_level = draw_.from_to(1, 4);
    if (draw_.chance(0.1)) made.grid = 1;
    if (made.kind == Model::Kind::kGauge) {
      made.walk = draw_.log_from_to(0.0003, 0.01);
      made.is_whole = draw_.chance(0.5);
      made.level = draw_.from_to(2, 30);
    }
    return made;
  }

  void add_temper(Model& model) {
    const double temper = draw_.unit();
    if (temper < 0.06) {
      model.burst = draw_.log_from_to(3, 20);
      model.burst_period = draw_.chance(0.6) ? 60 : 300;
      model.burst_length = static_cast<int>(draw_.from_to(2, 12));
      model.burst_phase = static_cast<int>(draw_.below(300));
    } else if (temper < 0.1) {
      model.spikes = 1 / draw_.log_from_to(60, 600);
    } else if (temper < 0.2) {
      model.batch = draw_.log_from_to(2, 30);
    }
  }

  // One statistic from the first second to the last.
  class Life {
   public:
    Life(const World& world, const Model& model, const Fault* fault)
        : world_(world),
          model_(model),
          fault_(fault),
          draw_(model.seed),
          past_(model.bucket_octaves()),
          wander_(model.wander * draw_.normal()),
          gauge_(std::exp2(model.level)) {}

    view::Past past() {
      for (int t = 0; t < kSeconds; ++t) past_.add(portion(t));
      return std::move(past_);
    }

   private:
    bool has(Fault::Kind kind, int t) const {
      return fault_ && fault_->kind == kind && fault_->holds(t);
    }

    view::Portion portion(int t) {
      constexpr double kKeep = 0.98;
      wander_ = kKeep * wander_ + model_.wander * std::sqrt(1 - kKeep * kKeep) * draw_.normal();
      const std::uint64_t samples = samples_at(t);
      view::Portion made{.count = static_cast<double>(samples)};
      if (model_.has_distribution()) made.buckets = buckets(t, samples);
      if (model_.kind == Model::Kind::kRange && samples > 0) {
        const double level =
            model_.level + wander_ +
            model_.sigma * draw_.normal() / std::sqrt(static_cast<double>(samples));
        made.levels = 1;
        made.level_sum = level;
        made.level_squares = level * level;
      }
      if (model_.kind == Model::Kind::kGauge) made.value = value_at(t);
      return made;
    }

    std::uint64_t samples_at(int t) {
      double rate =
          model_.rate * std::pow(world_.common_[static_cast<std::size_t>(t)] *
                                     world_.loads_[model_.interface][static_cast<std::size_t>(t)],
                                 model_.follows_load);
      const bool is_burst = (t + model_.burst_phase) % model_.burst_period < model_.burst_length;
      if (is_burst) rate *= model_.burst;
      if (draw_.chance(model_.spikes)) rate = 10 * rate + 3;
      const std::uint64_t as_ever = counted(rate);
      if (has(Fault::Kind::kSilent, t) || has(Fault::Kind::kSilentInterface, t)) return 0;
      if (has(Fault::Kind::kLoad, t)) return as_ever + counted(rate);
      if (has(Fault::Kind::kErrors, t) || has(Fault::Kind::kRareErrors, t) ||
          has(Fault::Kind::kBurst, t)) {
        return as_ever + counted(9 * rate);
      }
      return as_ever;
    }
    std::uint64_t counted(double rate) {
      if (model_.batch <= 1) return draw_.poisson(rate);
      std::uint64_t sum = 0;
      for (std::uint64_t n = draw_.poisson(rate / model_.batch); n > 0; --n) {
        sum += 1 + static_cast<std::uint64_t>(-model_.batch * std::log(1 - draw_.unit()));
      }
      return sum;
    }

    std::vector<view::Bucket> buckets(int t, std::uint64_t samples) {
      std::array<std::uint32_t, view::kPastBuckets> counts{};
      std::size_t low = view::kPastBuckets;
      std::size_t high = 0;
      for (std::uint64_t i = 0; i < samples; ++i) {
        const std::size_t place = place_of(level_at(t));
        ++counts[place];
        low = std::min(low, place);
        high = std::max(high, place);
      }
      std::vector<view::Bucket> made;
      for (std::size_t i = low; i <= high && i < view::kPastBuckets; ++i) {
        if (counts[i] == 0) continue;
        made.push_back({static_cast<std::int16_t>(static_cast<int>(i) + view::kLowestBucket),
                        static_cast<float>(counts[i])});
      }
      return made;
    }
    double level_at(int t) {
      const double z = normals()[draw_.bits() % normals().size()];
      double level = model_.level + wander_ + model_.sigma * z;
      if (model_.second_mode > 0 && draw_.chance(model_.second_mode)) level += model_.second_level;
      if (has(Fault::Kind::kSlower2, t)) level += 1;
      if (has(Fault::Kind::kSlower6, t)) level += std::log2(6);
      if (has(Fault::Kind::kMode, t) && draw_.chance(0.25)) level += 3;
      if (has(Fault::Kind::kTail, t) && draw_.chance(0.03)) level = model_.level + far();
      if (model_.grid > 0) level = std::round(level / model_.grid) * model_.grid;
      return level;
    }
    // 5 times p99.
    double far() const {
      const double of_mode = model_.second_mode > 0.02 ? model_.second_level : 0;
      return of_mode + 2.33 * model_.sigma + std::log2(5);
    }
    std::size_t place_of(double level) const {
      const double index = model_.kind == Model::Kind::kLog2Array ? 4 * std::floor(level) + 2
                                                                  : std::floor(4 * level);
      return static_cast<std::size_t>(std::clamp(index - view::kLowestBucket, 0.0,
                                                 static_cast<double>(view::kPastBuckets - 1)));
    }

    double value_at(int t) {
      gauge_ *= std::exp(model_.walk * draw_.normal());
      const double value = gauge_ * (has(Fault::Kind::kGauge, t) ? 2 : 1);
      return model_.is_whole ? std::round(value) : value;
    }

    // Quantiles of the normal distribution, equally likely ones.
    static const std::array<float, 8192>& normals() {
      static const auto kNormals = [] {
        std::array<float, 8192> made{};
        Draw draw(7);
        for (float& each : made) each = static_cast<float>(draw.normal());
        return made;
      }();
      return kNormals;
    }

    const World& world_;
    const Model& model_;
    const Fault* const fault_;
    Draw draw_;
    view::Past past_;
    double wander_;
    double gauge_;
  };

  Draw draw_;
  Series common_;
  std::vector<Series> loads_;
  std::vector<Model> models_;
};

}  // namespace tallyfs
