#include "tools/display/channel_score.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tallyfs::view {
namespace {

// (ln 2)^2: the variance of log2 of a count that is near e is F / e over this.
constexpr double kLog2Squared = 0.48;
constexpr double kLeastZ = 2;
constexpr std::size_t kSparseBlocks = 10;
constexpr double kLevelsMin = 3;
constexpr double kBaselineLevelsMin = 10;
constexpr Effect kLevelEffect{.least = 0.1, .spread = 0.08};
constexpr double kValuePart = 0.05;
// The largest value is the baseline's; a twentieth of the span's, where that was near 0.
constexpr double kOfSpan = 0.05;

bool is_chance(double deviation, double expected, double batch) {
  return deviation * deviation < kLeastZ * kLeastZ * batch * (expected + 1);
}

double combined(double change, double z, double spread, double least) {
  const double chance = change / z;
  return std::abs(change) / std::sqrt(chance * chance + spread + least * least);
}

// Mean and variance of a sequence of numbers (Welford).
struct Moments {
  std::size_t number = 0;
  double mean = 0;
  double squares = 0;

  void add(double x) {
    const double from_mean = x - mean;
    mean += from_mean / static_cast<double>(++number);
    squares += from_mean * (x - mean);
  }
  double variance() const { return number < 2 ? 0 : squares / static_cast<double>(number - 1); }
};

// Calls step(first block) for the windows of a baseline that end where the span begins.
template <typename Step>
void for_each_window(std::size_t baseline, std::size_t length, const Step& step) {
  for (std::size_t end = baseline; end >= length; end -= length) step(end - length);
}

}  // namespace

double spread_squared(double assumed, std::size_t windows, double variance) {
  const double m = static_cast<double>(windows);
  const double seen = m > 1 ? (m - 1) * std::max(0.0, variance) : 0;
  return (4 * assumed * assumed + seen) / (m + 3);
}

bool CountScore::can_score(double batch) const {
  if (exposure_ <= 0) return false;
  for (const std::size_t length : kWindows) {
    for (std::size_t from = baseline_; from + length <= baseline_ + Past::kSpanBlocks; ++from) {
      const Window found = window(from, length);
      for (const Direction direction : {Direction::kUp, Direction::kDown}) {
        const auto [deviation, exposure] = without_farthest(found, direction);
        if (deviation > 0 && !is_chance(deviation, rate_ * exposure, batch)) return true;
      }
    }
  }
  return false;
}

void CountScore::sum_baseline() {
  double squares = 0;
  std::size_t with_counts = 0;
  for (std::size_t i = 0; i < baseline_; ++i) {
    squares += deviations_[i] * deviations_[i];
    with_counts += counts_[i] > 0 ? 1 : 0;
  }
  batch_ = count_ > 0 ? std::max(1.0, squares / count_) : 1;
  is_sparse_ = with_counts < kSparseBlocks;
}

CountScore::Window CountScore::window(std::size_t from, std::size_t length) const {
  Window made{.highest = from, .lowest = from, .deviation = 0, .exposure = 0};
  for (std::size_t i = from; i < from + length; ++i) {
    made.deviation += deviations_[i];
    made.exposure += exposures_[i];
    made.highest = deviations_[i] > deviations_[made.highest] ? i : made.highest;
    made.lowest = deviations_[i] < deviations_[made.lowest] ? i : made.lowest;
  }
  return made;
}

CountScore::Rest CountScore::without_farthest(const Window& window, Direction direction) const {
  const bool is_up = direction == Direction::kUp;
  const std::size_t farthest = is_up ? window.highest : window.lowest;
  const double deviation = window.deviation - deviations_[farthest];
  return {is_up ? deviation : -deviation, window.exposure - exposures_[farthest]};
}

double CountScore::score(std::size_t from, std::size_t length, Direction direction) {
  const double sign = direction == Direction::kUp ? 1 : -1;
  const auto [deviation, exposure] = without_farthest(window(from, length), direction);
  const double expected = rate_ * exposure;
  if (deviation <= 0 || is_chance(deviation, expected, batch_)) return 0;
  const double batch = is_sparse_ ? std::max(batch_, batches(from, length)) : batch_;
  if (is_chance(deviation, expected, batch)) return 0;
  const double counted = expected + sign * deviation;
  const double part = exposure / (exposure + exposure_);
  const double all = counted + count_;
  double likelihood = 0;
  if (counted > 0) likelihood += counted * std::log(counted / (all * part));
  if (count_ > 0) likelihood += count_ * std::log(count_ / (all * (1 - part)));
  if (likelihood <= 0) return 0;
  const double change = std::log2((counted + batch / 2) / (expected + batch / 2));
  return combined(change, std::sqrt(2 * likelihood / batch), spread(length), effect_.least);
}

double CountScore::batches(std::size_t from, std::size_t length) const {
  Moments moments;
  for (std::size_t i = from; i < from + length; ++i) moments.add(counts_[i]);
  return moments.mean > 0 ? moments.variance() / moments.mean : 1;
}

double CountScore::spread(std::size_t length) {
  double& known = spreads_[length];
  if (known > 0) return known;
  Moments moments;
  double sampling = 0;
  for_each_window(baseline_, length, [&](std::size_t from) {
    double counted = 0;
    double exposure = 0;
    for (std::size_t i = from; i < from + length; ++i) {
      counted += counts_[i];
      exposure += exposures_[i];
    }
    if (exposure <= 0) return;
    const double expected = rate_ * exposure;
    moments.add(std::log2((counted + batch_ / 2) / (expected + batch_ / 2)));
    sampling += batch_ / (expected + batch_ / 2) / kLog2Squared;
  });
  if (moments.number > 0) sampling /= static_cast<double>(moments.number);
  known = spread_squared(effect_.spread, moments.number, moments.variance() - sampling);
  return known;
}

LevelScore::LevelScore(std::span<const Past::Block> blocks, std::size_t baseline,
                       const Past::Sums& sums, double bucket_octaves)
    : blocks_(blocks), baseline_(baseline), samples_(sums.levels) {
  if (samples_ <= 0) return;
  mean_ = sums.level_sum / samples_;
  const double variance = std::max(0.0, sums.level_squares / samples_ - mean_ * mean_);
  variance_ = (samples_ * variance + 4) / (samples_ + 4) + bucket_octaves * bucket_octaves / 12;
  const double blur = bucket_octaves / 2 * std::max(0.0, 1 - std::sqrt(variance) / bucket_octaves);
  least_squared_ = kLevelEffect.least * kLevelEffect.least + blur * blur;
  set_deviations(baseline, blocks.size());
}

void LevelScore::set_deviations(std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    const Past::Block& block = blocks_[i];
    deviations_[i] = block.level_sum - block.levels * mean_;
    means_[i] = block.levels > 0 ? deviations_[i] / block.levels : 0;
  }
}

double LevelScore::score(std::size_t from, std::size_t length, Direction direction) {
  if (samples_ < kBaselineLevelsMin) return 0;
  if (from < baseline_ && !std::exchange(has_deviations_, true)) set_deviations(0, baseline_);
  const double sign = direction == Direction::kUp ? 1 : -1;
  double samples = 0;
  double deviation = 0;
  double farthest = 0;
  std::size_t left_out = from;
  for (std::size_t i = from; i < from + length; ++i) {
    samples += blocks_[i].levels;
    deviation += sign * deviations_[i];
    if (sign * means_[i] <= farthest) continue;
    farthest = sign * means_[i];
    left_out = i;
  }
  samples -= blocks_[left_out].levels;
  deviation -= sign * deviations_[left_out];
  if (samples < kLevelsMin || deviation <= 0) return 0;
  const double change = deviation / samples;
  const double chance = variance_ / samples + variance_ / samples_;
  if (change * change < kLeastZ * kLeastZ * chance) return 0;
  return change / std::sqrt(chance + spread(length) + least_squared_);
}

double LevelScore::spread(std::size_t length) {
  double& known = spreads_[length];
  if (known > 0) return known;
  Moments moments;
  double sampling = 0;
  for_each_window(baseline_, length, [&](std::size_t from) {
    double samples = 0;
    double sum = 0;
    for (const Past::Block& block : blocks_.subspan(from, length)) {
      samples += block.levels;
      sum += block.level_sum;
    }
    if (samples < kLevelsMin) return;
    moments.add(sum / samples);
    sampling += variance_ / samples;
  });
  if (moments.number > 0) sampling /= static_cast<double>(moments.number);
  known = spread_squared(kLevelEffect.spread, moments.number, moments.variance() - sampling);
  return known;
}

ValueScore::ValueScore(std::span<const Past::Block> blocks, std::size_t baseline, bool is_whole)
    : blocks_(blocks), baseline_(baseline) {
  double largest = 0;
  for (std::size_t i = 0; i < baseline + Past::kSpanBlocks; ++i) {
    const double value = blocks[i].value;
    if (i < baseline) mean_ += value / static_cast<double>(baseline);
    largest = std::max(largest, std::abs(value) * (i < baseline ? 1 : kOfSpan));
  }
  unit_ = kValuePart * largest;
  least_ = unit_ + (is_whole ? 1 : 0);
}

double ValueScore::score(std::size_t from, std::size_t length, Direction direction) {
  const double sign = direction == Direction::kUp ? 1 : -1;
  double sum = 0;
  double farthest = -std::numeric_limits<double>::infinity();
  for (const Past::Block& block : blocks_.subspan(from, length)) {
    sum += block.value;
    farthest = std::max(farthest, sign * block.value);
  }
  const double change = (sum - sign * farthest) / static_cast<double>(length - 1) - mean_;
  if (sign * change <= least_) return 0;
  return std::abs(change) / std::sqrt(spread(length) + least_ * least_);
}

double ValueScore::spread(std::size_t length) {
  double& known = spreads_[length];
  if (known > 0) return known;
  Moments moments;
  for_each_window(baseline_, length, [&](std::size_t from) {
    double sum = 0;
    for (const Past::Block& block : blocks_.subspan(from, length)) sum += block.value;
    moments.add(sum / static_cast<double>(length));
  });
  known = spread_squared(unit_, moments.number, moments.variance());
  return known;
}

}  // namespace tallyfs::view
