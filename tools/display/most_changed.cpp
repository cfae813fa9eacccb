#include "tools/display/most_changed.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace tallyfs::view {
namespace {

constexpr std::size_t kFoldedMin = 3;
constexpr std::size_t kUnitsApart = 5;

struct Ranked {
  std::size_t index;
  Behaviour behaviour;
  std::optional<Onset> onset{};
  bool has_row = false;
};

class Ranking {
 public:
  Ranking(std::span<const Watched> watched, const ChangeOptions& options)
      : watched_(watched), options_(options) {
    for (std::size_t i = 0; i < watched.size(); ++i) {
      const auto behaviour = behaviour_of(*watched[i].past, options.baseline_spans);
      if (behaviour && behaviour->score > 0) ranked_.push_back({i, *behaviour});
    }
    std::ranges::stable_sort(ranked_, std::greater(),
                             [](const Ranked& each) { return each.behaviour.score; });
  }

  std::vector<ChangedRow> rows() {
    std::vector<ChangedRow> made;
    for (std::size_t i = 0; i < ranked_.size() && made.size() < options_.rows_max; ++i) {
      if (!ranked_[i].has_row) made.push_back(row_of(i));
    }
    return made;
  }

 private:
  ChangedRow row_of(std::size_t first) {
    Ranked& ranked = ranked_[first];
    ChangedRow row{.members = {ranked.index},
                   .behaviour = ranked.behaviour,
                   .onset = onset(ranked),
                   .is_unusual = ranked.behaviour.score >= limit_of(ranked)};
    std::vector<std::size_t> alike;
    for (std::size_t i = first + 1; i < ranked_.size(); ++i) {
      if (is_alike(ranked, ranked_[i])) alike.push_back(i);
    }
    ranked.has_row = true;
    if (alike.size() + 1 < kFoldedMin) return row;
    for (const std::size_t each : alike) {
      ranked_[each].has_row = true;
      row.members.push_back(ranked_[each].index);
    }
    return row;
  }

  bool is_alike(Ranked& first, Ranked& other) {
    const Behaviour& a = first.behaviour;
    const Behaviour& b = other.behaviour;
    if (other.has_row || a.channel != b.channel || a.direction != b.direction ||
        watched_[first.index].interface != watched_[other.index].interface) {
      return false;
    }
    const std::size_t begin = onset(first).begin;
    const std::size_t other_begin = onset(other).begin;
    return std::max(begin, other_begin) - std::min(begin, other_begin) <= kUnitsApart;
  }

  double limit_of(const Ranked& ranked) const {
    return unusual_from(
        baseline_spans(*watched_[ranked.index].past, options_.baseline_spans));
  }

  const Onset& onset(Ranked& ranked) {
    if (!ranked.onset) {
      const Past& past = *watched_[ranked.index].past;
      const Baseline baseline =
          baseline_of(past, ranked.behaviour.channel, options_.baseline_spans);
      ranked.onset = onset_of(past, ranked.behaviour, baseline);
    }
    return *ranked.onset;
  }

  const std::span<const Watched> watched_;
  const ChangeOptions options_;
  std::vector<Ranked> ranked_;
};

}  // namespace

std::vector<ChangedRow> most_changed(std::span<const Watched> watched,
                                     const ChangeOptions& options) {
  return Ranking(watched, options).rows();
}

}  // namespace tallyfs::view
