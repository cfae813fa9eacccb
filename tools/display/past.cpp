#include "tools/display/past.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace tallyfs::view {
namespace {

constexpr int kPerOctave = 4;
// Dropped in pieces, since what stays is moved.
constexpr std::size_t kPiece = 4 * Past::kSpanBlocks;

}  // namespace

std::int16_t bucket_of(double x) {
  if (!(x > 0.5)) return kLowestBucket;
  const double index = std::floor(kPerOctave * std::log2(x));
  constexpr double kHighest = kLowestBucket + static_cast<double>(kPastBuckets) - 1;
  return static_cast<std::int16_t>(std::clamp(index, double{kLowestBucket}, kHighest));
}

double bucket_begin(int index) { return std::exp2(static_cast<double>(index) / kPerOctave); }
double bucket_level(int index) { return (index + 0.5) / kPerOctave; }

void add_buckets(std::vector<Bucket>& sum, std::span<const Bucket> more, std::size_t begin) {
  for (const Bucket& each : more) {
    const auto first = sum.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto at = std::ranges::lower_bound(first, sum.end(), each.index, {}, &Bucket::index);
    if (at != sum.end() && at->index == each.index)
      at->count += each.count;
    else
      sum.insert(at, each);
  }
}

void Past::add(Portion unit) {
  ++added_;
  if (unit.count > 0 || !unit.buckets.empty()) sampled_ = added_;
  if (unit.value) {
    value_ = unit.value;
    has_whole_values_ = has_whole_values_ && std::round(*unit.value) == *unit.value;
  }
  unit.value = value_;
  for (const Bucket& each : unit.buckets) {
    const double level = bucket_level(each.index);
    unit.levels += each.count;
    unit.level_sum += each.count * level;
    unit.level_squares += each.count * level * level;
  }
  has_buckets_ = has_buckets_ || !unit.buckets.empty();
  has_levels_ = has_levels_ || unit.levels > 0;
  units_.push_back(std::move(unit));
  if (++open_units_ == kBlockUnits) close_block();
}

void Past::close_block() {
  open_units_ = 0;
  Portion sum;
  const std::size_t first = buckets_.size();
  for (std::size_t i = units_.size() - kBlockUnits; i < units_.size(); ++i) {
    const Portion& unit = units_[i];
    sum.count += unit.count;
    sum.levels += unit.levels;
    sum.level_sum += unit.level_sum;
    sum.level_squares += unit.level_squares;
    add_buckets(buckets_, unit.buckets, first);
  }
  blocks_.push_back({.count = static_cast<float>(sum.count),
                     .levels = static_cast<float>(sum.levels),
                     .level_sum = static_cast<float>(sum.level_sum),
                     .level_squares = static_cast<float>(sum.level_squares),
                     .value = static_cast<float>(value_.value_or(0)),
                     .buckets = static_cast<std::uint32_t>(first)});
  while (units_.size() > kUnitsMax) units_.pop_front();
  move_baseline();
  if (blocks_.size() == kBlocksMax + kPiece) drop_oldest();
}

void Past::Sums::add(const Block& block, std::span<const Bucket> more, double sign) {
  count += sign * block.count;
  count_squares += sign * block.count * block.count;
  levels += sign * block.levels;
  level_sum += sign * block.level_sum;
  level_squares += sign * block.level_squares;
  const std::size_t end = more.empty() ? 0 : place_of_bucket(more.back().index) + 1;
  if (end > buckets.size()) buckets.resize(end);
  for (const Bucket& each : more) {
    buckets[place_of_bucket(each.index)] += static_cast<float>(sign) * each.count;
  }
}

// The newest block moves the oldest one of the span into the baseline, and that one's oldest out.
void Past::move_baseline() {
  if (blocks_.size() <= kSpanBlocks) return;
  const std::size_t added = blocks_.size() - 1 - kSpanBlocks;
  baseline_.add(blocks_[added], buckets(added));
  if (added < kBaselineBlocks) return;
  const std::size_t removed = added - kBaselineBlocks;
  baseline_.add(blocks_[removed], buckets(removed), -1);
}

void Past::drop_oldest() {
  blocks_.erase(blocks_.begin(), blocks_.begin() + kPiece);
  const std::uint32_t first = blocks_.front().buckets;
  buckets_.erase(buckets_.begin(), buckets_.begin() + first);
  for (Block& each : blocks_) each.buckets -= first;
}

std::span<const Bucket> Past::buckets(std::size_t block) const {
  const std::size_t end = block + 1 < blocks_.size() ? blocks_[block + 1].buckets : buckets_.size();
  return std::span(buckets_).subspan(blocks_[block].buckets, end - blocks_[block].buckets);
}

std::optional<std::size_t> Past::units_since_sample() const {
  const std::size_t end = added_ - open_units_;
  if (!sampled_) return std::nullopt;
  return end - std::min(end, *sampled_);
}

}  // namespace tallyfs::view
