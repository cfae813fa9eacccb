#include "core/statistics/interface/uid_cells.h"

#include <algorithm>

#include "core/base/prefetch.h"

namespace tallyfs {
namespace {

// While a file is read, those behind it are on their way from memory.
constexpr std::size_t kAhead = 4;

}  // namespace

void UidCells::read(Bound& bound, CellKey key, CellSums& sums, CellBudget& budget,
                    CellTally& tally) {
  const std::uint64_t before = sums.samples;
  key.id = bound.id;
  bound.source->add_up(key, bound.places, sums, budget, party_);
  const std::uint64_t samples = sums.samples - before;
  if (samples <= bound.counted) return;
  tally.note_samples(samples - bound.counted);
  bound.counted = samples;
}

// A look that was continued has older sums in it. Where the budget is enough for all cells of the
// uid, another one follows.
void UidCells::read(const CellKey& key, CellBudget& budget, CellTally& tally) {
  if (budget.has_in_round(party_.uid, whole_looks_)) return;
  const bool looks_twice = looked_ != 0 && !budget.is_in_round(party_.uid);
  if (read_on(key, budget, tally) && looks_twice) read_on(key, budget, tally);
}

// Each file's are elsewhere in memory: where they are is fetched first, and then what is there.
void UidCells::prefetch_ahead(std::size_t of, const CellKey& key, const CellBudget& budget) const {
  if (of + 2 * kAhead < bound_.size()) {
    const Bound& far = bound_[of + 2 * kAhead];
    __builtin_prefetch(far.source.get());
    __builtin_prefetch(far.places.at.data());
    far.places.former.prefetch();
  }
  if (of + kAhead < bound_.size()) {
    const Bound& near = bound_[of + kAhead];
    near.source->prefetch(key, near.places, budget);
    if (key.form.intervals != 0) near.places.former.prefetch_counts();
  }
}

bool UidCells::read_on(const CellKey& key, CellBudget& budget, CellTally& tally) {
  CellBudget::Reading reading(budget, party_);
  for (; looked_ < bound_.size() && reading.goes_on(); ++looked_) {
    prefetch_ahead(looked_, key, budget);
    Bound& each = bound_[looked_];
    read(each, key, look_, budget, tally);
    reading.add(CellBudget::cost_of(each.places.size(), key.form.intervals));
  }
  reading.end();
  if (looked_ < bound_.size()) {
    bound_[looked_].source->note_not_read();
    budget.note_cut(party_.uid);
    return false;
  }
  finish_look(budget, tally);
  return true;
}

void UidCells::finish_look(CellBudget& budget, CellTally& tally) {
  shown_ = std::exchange(look_, {});
  looked_ = 0;
  known_ = bound_.size();
  budget.note_whole(whole_looks_);
  if (!ended_) return;
  tally.settle(ended_->not_looked_at);
  if (!ended_->has_looked_at) {
    ended_ = nullptr;
  } else {
    *ended_ = {.not_looked_at = std::move(ended_->looked_at)};
  }
}

bool UidCells::take(const CellSource* source, const CellKey& key, CellTally& tally,
                    const IsLate& is_late) {
  const auto is_its = [source](const Bound& each) { return each.source.get() == source; };
  if (std::ranges::none_of(bound_, is_its)) return true;
  bool has_taken = false, is_cut = false;
  if (!ended_) ended_ = std::make_unique<Ended>();
  CellBudget none;  // places of a file that has ended are known
  std::size_t place = 0, looked = looked_, known = known_;
  std::erase_if(bound_, [&](Bound& each) {
    const bool was_known = place < known_;
    const bool was_looked_at = place++ < looked_;
    if (!is_its(each)) return false;
    is_cut = is_cut || (has_taken && is_late());
    if (is_cut) return false;
    has_taken = true;
    ids_.erase({source, each.id});
    known -= was_known ? 1 : 0;
    looked -= was_looked_at ? 1 : 0;
    if (!was_known && !was_looked_at) {
      CellSums sums;
      read(each, key, sums, none, tally);
      tally.settle(sums);
      return true;
    }
    ended_->has_looked_at |= was_looked_at;
    read(each, key, was_looked_at ? ended_->looked_at : ended_->not_looked_at, none, tally);
    return true;
  });
  looked_ = looked;
  known_ = known;
  if (looked_ == 0) begin_look();
  if (bound_.empty()) settle(tally);
  return !is_cut;
}

// There is no look under way, or nothing is left of those that it has looked at.
void UidCells::begin_look() {
  look_ = {};
  if (!std::exchange(ended_->has_looked_at, false)) return;
  ended_->not_looked_at.add(std::exchange(ended_->looked_at, {}));
}

void UidCells::settle(CellTally& tally) {
  if (!ended_) return;
  tally.settle(ended_->not_looked_at);
  tally.settle(ended_->looked_at);
  ended_ = nullptr;
  shown_ = look_ = {};
  looked_ = known_ = 0;
}

void UidCells::forget() {
  shown_ = look_ = {};
  looked_ = known_ = 0;
  whole_looks_ = {};
  ended_ = nullptr;
  for (Bound& each : bound_) each.counted = 0;
}

std::uint64_t UidCells::counted() const {
  std::uint64_t all = 0;
  for (const Bound& each : bound_) all += each.counted;
  return all;
}

}  // namespace tallyfs
