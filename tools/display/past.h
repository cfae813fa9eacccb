// The past of one statistic for "what changed most": by blocks, of which a span has twelve, and by
// units, of which a block has five. A span of 60 s has blocks of 5 s and units of 1 s; the caller
// chooses the length, and adds a unit after each.
//
// Bounds: at least the newest 19 spans of blocks and 70 units are kept, with at most 272 buckets
// each. A bucket is a quarter of an octave of X, whatever the bins of the statistic are.
// Confined to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace tallyfs::view {

struct Bucket {
  std::int16_t index = 0;  // floor(4 log2 X), see bucket_of()
  float count = 0;
};

// The counts of a unit of time.
struct Portion {
  double count = 0;  // samples, or what a counter grew
  // The number, sum and squares of log2 X, for types without buckets. add() computes them from
  // buckets if there are any.
  double levels = 0;
  double level_sum = 0;
  double level_squares = 0;
  std::vector<Bucket> buckets{};  // ascending
  std::optional<double> value{};  // the last one
};

// X up to 1/2, 0 and negative ones too, are in one bucket.
inline constexpr int kLowestBucket = -4;
inline constexpr std::size_t kPastBuckets = 272;
std::int16_t bucket_of(double x);
// The lower edge of a bucket, and log2 of its middle.
double bucket_begin(int index);
double bucket_level(int index);
// From 0, below kPastBuckets.
constexpr std::size_t place_of_bucket(int index) {
  return static_cast<std::size_t>(index - kLowestBucket);
}

class Past {
 public:
  static constexpr std::size_t kBlockUnits = 5;
  static constexpr std::size_t kSpanBlocks = 12;
  static constexpr std::size_t kBaselineSpans = 9;
  static constexpr std::size_t kBaselineBlocks = kBaselineSpans * kSpanBlocks;
  static constexpr std::size_t kBlocksMax = 19 * kSpanBlocks;
  static constexpr std::size_t kUnitsMax = 70;

  struct Block {
    float count = 0;
    float levels = 0;
    float level_sum = 0;
    float level_squares = 0;
    float value = 0;            // the newest one, of this block or before
    std::uint32_t buckets = 0;  // where they begin
  };

  // Sums over several blocks.
  struct Sums {
    double count = 0;
    double count_squares = 0;
    double levels = 0;
    double level_sum = 0;
    double level_squares = 0;
    std::vector<float> buckets{};  // by place_of_bucket(), up to the highest one

    void add(const Block& block, std::span<const Bucket> more, double sign = 1);
  };

  // `bucket_octaves`: how wide the statistic's own buckets are at its usual X, at least 1/4.
  explicit Past(double bucket_octaves = 0.25) : bucket_octaves_(bucket_octaves) {}

  void add(Portion unit);

  // Complete ones, oldest first.
  std::span<const Block> blocks() const { return blocks_; }
  std::span<const Bucket> buckets(std::size_t block) const;
  // The sums of the whole baseline of the newest span, or, in a shorter past, of all blocks before
  // the span. They are updated with each block, so that a caller need not read all blocks.
  const Sums& baseline() const { return baseline_; }
  // The units of complete blocks, oldest first; fewer than kUnitsMax at the beginning.
  std::size_t units() const { return units_.size() - open_units_; }
  const Portion& unit(std::size_t index) const { return units_[index]; }

  double bucket_octaves() const { return bucket_octaves_; }
  bool has_levels() const { return has_levels_; }
  bool has_buckets() const { return has_buckets_; }
  bool has_values() const { return value_.has_value(); }
  bool has_whole_values() const { return has_whole_values_; }
  // Units from the newest sample to the end of the newest block; nothing if there was none.
  std::optional<std::size_t> units_since_sample() const;

 private:
  void close_block();
  void move_baseline();
  void drop_oldest();

  double bucket_octaves_;
  Sums baseline_;
  bool has_levels_ = false;
  bool has_buckets_ = false;
  bool has_whole_values_ = true;
  std::optional<double> value_;
  std::vector<Block> blocks_;
  std::vector<Bucket> buckets_;
  std::deque<Portion> units_;
  std::size_t open_units_ = 0;          // of the block that is not complete
  std::size_t added_ = 0;               // units ever
  std::optional<std::size_t> sampled_;  // the number of units ever when the newest sample came
};

// Adds `more` to buckets that ascend from `begin` on.
void add_buckets(std::vector<Bucket>& sum, std::span<const Bucket> more, std::size_t begin = 0);

}  // namespace tallyfs::view
