// The score S of windows of one channel (behaviour.h has the formula): of counts by block beside
// their exposure, of levels, of values. Each has the blocks of a baseline, and those of the span
// after it. Confined to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "tools/display/behaviour.h"

namespace tallyfs::view {

inline constexpr std::size_t kBlocksInLook = (Past::kBaselineSpans + 1) * Past::kSpanBlocks;
using BlockNumbers = std::array<double, kBlocksInLook>;

// The least effect, and the spread that is assumed before any is seen.
struct Effect {
  double least = 0;
  double spread = 0;
};

// s^2 of `windows` windows of the baseline, of which `variance` is known, less that of sampling.
double spread_squared(double assumed, std::size_t windows, double variance);

// S of counts: samples by block, or those of a tail by samples.
class CountScore {
 public:
  // `count` and `exposure` of the whole baseline.
  CountScore(std::size_t baseline, Effect effect, double count, double exposure)
      : baseline_(baseline),
        effect_(effect),
        count_(count),
        exposure_(exposure),
        rate_(exposure > 0 ? count / exposure : 0) {}

  void set(std::size_t block, double count, double exposure) {
    counts_[block] = count;
    exposures_[block] = exposure;
    deviations_[block] = count - rate_ * exposure;
  }
  double count(std::size_t block) const { return counts_[block]; }
  // After the blocks of the span are set: whether a window of it can score, with an F of at least
  // `batch`. Only then those of the baseline are needed.
  bool can_score(double batch) const;
  // After all are set.
  void sum_baseline();

  double score(std::size_t from, std::size_t length, Direction direction);

 private:
  struct Window {
    std::size_t highest;  // the block with the highest deviation, and with the lowest
    std::size_t lowest;
    double deviation;
    double exposure;
  };
  // Without the block that is farthest in a direction; the deviation is positive in it.
  struct Rest {
    double deviation;
    double exposure;
  };
  Window window(std::size_t from, std::size_t length) const;
  Rest without_farthest(const Window& window, Direction direction) const;
  double spread(std::size_t length);
  // F of a window, where the baseline has too few blocks to know it.
  double batches(std::size_t from, std::size_t length) const;

  const std::size_t baseline_;
  const Effect effect_;
  const double count_;  // y
  const double exposure_;
  const double rate_;
  BlockNumbers counts_;
  BlockNumbers exposures_;
  BlockNumbers deviations_;
  double batch_ = 1;  // F
  bool is_sparse_ = false;
  std::array<double, Past::kSpanBlocks + 1> spreads_{};  // by length; 0: not known yet
};

// S of the mean of log2 X.
class LevelScore {
 public:
  LevelScore(std::span<const Past::Block> blocks, std::size_t baseline, const Past::Sums& sums,
             double bucket_octaves);

  double score(std::size_t from, std::size_t length, Direction direction);

 private:
  void set_deviations(std::size_t from, std::size_t to);
  double spread(std::size_t length);

  const std::span<const Past::Block> blocks_;
  const std::size_t baseline_;
  BlockNumbers means_;           // of a block, less that of the baseline
  BlockNumbers deviations_;      // that times its samples
  bool has_deviations_ = false;  // of the baseline; those of the span are there
  double samples_ = 0;           // N
  double mean_ = 0;
  double variance_ = 0;  // v, of one sample
  double least_squared_ = 0;
  std::array<double, Past::kSpanBlocks + 1> spreads_{};
};

// S of last values, which are no sample of anything: z is infinite.
class ValueScore {
 public:
  ValueScore(std::span<const Past::Block> blocks, std::size_t baseline, bool is_whole);

  double score(std::size_t from, std::size_t length, Direction direction);

 private:
  double spread(std::size_t length);

  const std::span<const Past::Block> blocks_;
  const std::size_t baseline_;
  double mean_ = 0;
  double unit_ = 0;  // 5 % of the largest
  double least_ = 0;
  std::array<double, Past::kSpanBlocks + 1> spreads_{};
};

}  // namespace tallyfs::view
