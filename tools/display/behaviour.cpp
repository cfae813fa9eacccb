#include "tools/display/behaviour.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "tools/display/channel_score.h"

namespace tallyfs::view {
namespace {

constexpr std::size_t kBaselineSpansMin = 2;
constexpr std::size_t kWindowsMin = 4;         // of a baseline, of each length
constexpr std::size_t kSpansBefore = 5;        // whose scores are usual
constexpr std::size_t kSpansBeforeShort = 10;  // the same beside a short baseline
constexpr double kOwnFrom = 2;                 // below it, what is usual does not matter
constexpr double kLeastScore = 1;              // below it, all is as before
constexpr Effect kRateEffect{.least = 0.15, .spread = 0.2};
constexpr Effect kTailEffect{.least = 0.3, .spread = 0.3};
constexpr Effect kFarTailEffect{.least = 0.3, .spread = 0.4};
constexpr double kTailShare = 0.02;
constexpr double kFarTailShare = 0.002;
constexpr double kRisenMin = 2;  // fewer samples of a tail are chance, whatever was expected
constexpr int kOctave = 4;       // buckets

// The lowest bucket that at most `share` of all are above, raised; never near the median.
int raised_bound(const Past::Sums& sums, double share, double bucket_octaves) {
  double above = 0;
  std::size_t bound = sums.buckets.size();
  while (bound > 0 && above + sums.buckets[bound - 1] <= share * sums.levels) {
    above += sums.buckets[--bound];
  }
  std::size_t median = bound;
  while (median > 0 && above < sums.levels / 2) above += sums.buckets[--median];
  const int raised = static_cast<int>(bound) - 1 + static_cast<int>(kOctave * bucket_octaves);
  return std::max(raised, static_cast<int>(median) + kOctave) + kLowestBucket;
}

constexpr double kAll = std::numeric_limits<double>::infinity();

// Windows of one length, of one channel, in one direction.
struct Windows {
  Channel channel;
  Direction direction;
  std::size_t length;
};

// A span of the past, the baseline before it, and the channels of both, made when they are wanted.
class SpanLook {
 public:
  SpanLook(const Past& past, std::size_t end, std::size_t spans)
      : past_(past),
        first_(end - (spans + 1) * Past::kSpanBlocks),
        baseline_(spans * Past::kSpanBlocks) {}

  bool has(std::size_t length) const { return baseline_ >= kWindowsMin * length; }

  // The highest S of the span's windows, and of the baseline's, or the first one above `enough`.
  double of_span(const Windows& windows, double enough = kAll) {
    return highest(windows, {baseline_, baseline_ + Past::kSpanBlocks, enough});
  }
  double of_baseline(const Windows& windows, double enough) {
    return highest(windows, {0, baseline_, enough});
  }

  // The sums of the baseline, which Past keeps for the usual one.
  const Past::Sums& sums() {
    const bool is_kept = first_ + baseline_ + Past::kSpanBlocks == past_.blocks().size() &&
                         baseline_ == Past::kBaselineBlocks;
    if (is_kept) return past_.baseline();
    if (sums_) return *sums_;
    sums_.emplace();
    for (std::size_t i = first_; i < first_ + baseline_; ++i) {
      sums_->add(past_.blocks()[i], past_.buckets(i));
    }
    return *sums_;
  }
  // Counts above this bucket are the tail.
  int tail_index(Channel channel) {
    const double share = channel == Channel::kTail ? kTailShare : kFarTailShare;
    return raised_bound(sums(), share, past_.bucket_octaves());
  }
  // The baseline's counts in buckets above `index`.
  double above(int index) {
    const std::span<const float> buckets = sums().buckets;
    const auto above = buckets.subspan(std::min(place_of_bucket(index + 1), buckets.size()));
    return std::accumulate(above.begin(), above.end(), 0.0);
  }

 private:
  struct Search {
    std::size_t begin;
    std::size_t end;
    double enough;
  };

  double highest(const Windows& windows, const Search& search) {
    switch (windows.channel) {
      case Channel::kRate:
        return highest(rate(), windows, search);
      case Channel::kTail:
      case Channel::kFarTail:
        return highest(tail(windows.channel), windows, search);
      case Channel::kLevel:
        return highest(&level(), windows, search);
      case Channel::kValue:
        return highest(&value(), windows, search);
    }
    return 0;
  }
  template <typename Score>
  static double highest(Score* score, const Windows& windows, const Search& search) {
    double found = 0;
    if (!score) return found;
    for (std::size_t from = search.begin; from + windows.length <= search.end; ++from) {
      found = std::max(found, score->score(from, windows.length, windows.direction));
      if (found >= search.enough) break;
    }
    return found;
  }

  std::span<const Past::Block> blocks() const {
    return past_.blocks().subspan(first_, baseline_ + Past::kSpanBlocks);
  }
  // A channel of counts is made when it is wanted; there is none if no window can score.
  struct Counts {
    bool is_known = false;
    std::optional<CountScore> score{};
  };
  CountScore* rate() {
    if (!std::exchange(rate_.is_known, true)) make_rate();
    return rate_.score ? &*rate_.score : nullptr;
  }
  void make_rate() {
    const double blocks_of_baseline = static_cast<double>(baseline_);
    const double count = sums().count;
    CountScore& made = rate_.score.emplace(baseline_, kRateEffect, count, blocks_of_baseline);
    for (std::size_t i = baseline_; i < blocks().size(); ++i) made.set(i, blocks()[i].count, 1);
    const double squares = sums().count_squares - count * count / blocks_of_baseline;
    const double batch = count > 0 ? std::max(1.0, squares / count) : 1;
    if (!made.can_score(batch)) return rate_.score.reset();
    for (std::size_t i = 0; i < baseline_; ++i) made.set(i, blocks()[i].count, 1);
    made.sum_baseline();
  }
  CountScore* tail(Channel channel) {
    Counts& tail = channel == Channel::kTail ? tail_ : far_tail_;
    if (!std::exchange(tail.is_known, true)) make_tail(tail, channel);
    return tail.score ? &*tail.score : nullptr;
  }
  void make_tail(Counts& tail, Channel channel) {
    const int index = tail_index(channel);
    const double count = above(index);
    tail.score.emplace(baseline_, channel == Channel::kTail ? kTailEffect : kFarTailEffect, count,
                       sums().levels);
    const auto set = [&](std::size_t i) {
      tail.score->set(i, count_above(past_.buckets(first_ + i), index), blocks()[i].levels);
    };
    double risen = 0;
    for (std::size_t i = baseline_; i < blocks().size(); ++i) {
      set(i);
      risen += tail.score->count(i);
    }
    if (risen < kRisenMin) return tail.score.reset();
    if (!tail.score->can_score(1)) return tail.score.reset();
    for (std::size_t i = 0; i < baseline_; ++i) set(i);
    tail.score->sum_baseline();
  }
  LevelScore& level() {
    if (!level_) level_.emplace(blocks(), baseline_, sums(), past_.bucket_octaves());
    return *level_;
  }
  ValueScore& value() {
    if (!value_) value_.emplace(blocks(), baseline_, past_.has_whole_values());
    return *value_;
  }
  const Past& past_;
  const std::size_t first_;
  const std::size_t baseline_;  // blocks
  Counts rate_;
  Counts tail_;
  Counts far_tail_;
  std::optional<LevelScore> level_;
  std::optional<ValueScore> value_;
  std::optional<Past::Sums> sums_;
};

// Compares the newest span of a statistic with its baseline.
class Comparison {
 public:
  Comparison(const Past& past, std::size_t wanted, std::size_t spans)
      : past_(past), wanted_(wanted), now_(past, past.blocks().size(), spans) {
    before_max_ = spans < Past::kBaselineSpans ? kSpansBeforeShort : kSpansBefore;
  }

  Behaviour behaviour() {
    for (const Reached& each : reached()) {
      // Sorted: from here on nothing can be higher.
      if (each.score <= best_.score) break;
      const double usual = each.score > kOwnFrom ? usual_of(each) : 0;
      if (each.score - usual <= best_.score) continue;
      best_ = {each.score - usual, each.windows.channel, each.windows.direction,
               each.windows.length};
    }
    return best_.window == 0 ? Behaviour() : best_;
  }

 private:
  struct Reached {
    double score;
    Windows windows;
  };

  std::vector<Reached> reached() {
    std::vector<Reached> made;
    const auto reach = [&](Channel channel, Direction direction) {
      for (const std::size_t length : kWindows) {
        if (!now_.has(length)) continue;
        const Windows windows{channel, direction, length};
        const double score = now_.of_span(windows);
        if (score > 0) made.push_back({score, windows});
      }
    };
    for (const Direction direction : {Direction::kUp, Direction::kDown}) {
      reach(Channel::kRate, direction);
      if (past_.has_levels()) reach(Channel::kLevel, direction);
      if (past_.has_values()) reach(Channel::kValue, direction);
    }
    if (past_.has_buckets()) {
      reach(Channel::kTail, Direction::kUp);
      reach(Channel::kFarTail, Direction::kUp);
    }
    std::ranges::sort(made, std::greater(), &Reached::score);
    return made;
  }

  // At least what makes the difference no higher than the best one, or all of it.
  double usual_of(const Reached& each) {
    const double enough = each.score - best_.score;
    double usual = now_.of_baseline(each.windows, enough);
    for (std::size_t i = 0; i < before_max_ && usual < enough; ++i) {
      SpanLook* const look = before(i);
      if (!look || !look->has(each.windows.length)) break;
      usual = std::max(usual, look->of_span(each.windows, enough));
    }
    return usual;
  }

  // The span i + 1 spans before the newest one.
  SpanLook* before(std::size_t i) {
    if (i < before_.size()) return before_[i].get();
    const std::size_t later = (i + 1) * Past::kSpanBlocks;
    const std::size_t blocks = past_.blocks().size();
    if (blocks < later + (kBaselineSpansMin + 1) * Past::kSpanBlocks) return nullptr;
    const std::size_t end = blocks - later;
    const std::size_t spans = std::min(wanted_, end / Past::kSpanBlocks - 1);
    before_.push_back(std::make_unique<SpanLook>(past_, end, spans));
    return before_.back().get();
  }

  const Past& past_;
  const std::size_t wanted_;
  SpanLook now_;
  std::size_t before_max_ = 0;
  std::vector<std::unique_ptr<SpanLook>> before_;  // newest first
  Behaviour best_{.score = kLeastScore};
};

}  // namespace

double count_above(std::span<const Bucket> buckets, int index) {
  double count = 0;
  for (std::size_t i = buckets.size(); i > 0 && buckets[i - 1].index > index; --i) {
    count += buckets[i - 1].count;
  }
  return count;
}

std::size_t baseline_spans(const Past& past, std::size_t wanted) {
  const std::size_t spans = past.blocks().size() / Past::kSpanBlocks;
  return spans == 0 ? 0 : std::min({spans - 1, wanted, Past::kBaselineSpans});
}

std::optional<Behaviour> behaviour_of(const Past& past, std::size_t wanted) {
  const std::size_t spans = baseline_spans(past, wanted);
  if (spans < kBaselineSpansMin) return std::nullopt;
  return Comparison(past, wanted, spans).behaviour();
}

Baseline baseline_of(const Past& past, Channel channel, std::size_t wanted) {
  const std::size_t spans = baseline_spans(past, wanted);
  Baseline made{.blocks = spans * Past::kSpanBlocks};
  SpanLook look(past, past.blocks().size(), spans);
  made.sums = look.sums();
  if (made.sums.levels > 0) made.mean_level = made.sums.level_sum / made.sums.levels;
  made.tail_index = look.tail_index(channel);
  made.above_tail = look.above(made.tail_index);
  const auto blocks = past.blocks().last(made.blocks + Past::kSpanBlocks).first(made.blocks);
  const auto [low, high] = std::ranges::minmax(blocks, {}, &Past::Block::value);
  made.value_low = low.value;
  made.value_high = high.value;
  for (const Past::Block& each : blocks) {
    made.value_mean += each.value / static_cast<double>(made.blocks);
  }
  return made;
}

}  // namespace tallyfs::view
