#include "core/statistics/interface/uid_cells.h"

#include <algorithm>

#include "core/base/prefetch.h"

namespace tallyfs::statistics {
namespace {

// While a file is read, those behind it are on their way from memory.
constexpr std::size_t kAhead = 4;

}  // namespace

// Samples are counted once all cells of the id are read.
CellsRead UidCells::read_part(BoundCells& bound, CellKey key, Part& part, CellSums& sums,
                              CellBudget& budget, CellTally& tally) {
  const std::uint64_t before = sums.samples;
  key.id = bound.id;
  const CellsRead read =
      bound.source->add_up(key, bound.places, part.of_file, sums, budget, party_);
  part.samples += sums.samples - before;
  if (!read.all) return read;
  const std::uint64_t samples = std::exchange(part, {}).samples;
  if (samples <= bound.counted) return read;
  tally.note_samples(samples - bound.counted);
  bound.counted = samples;
  return read;
}

// Places of a file that has ended are known.
void UidCells::read_last(BoundCells& bound, const CellKey& key, CellSums& sums, CellTally& tally) {
  CellBudget none;
  Part part;
  while (!read_part(bound, key, part, sums, none, tally).all) {
  }
}

// A look that was continued has older sums in it. Where the budget is enough for all cells of the
// uid, another one follows.
UidCells::Done UidCells::read(const CellKey& key, CellBudget& budget, CellTally& tally) {
  if (budget.has_in_round(party_.uid, whole_looks_)) return Done::kAll;
  const bool is_continued = looked_ != 0 || part_.of_file.next != 0;
  const bool looks_twice = is_continued && !budget.is_in_round(party_.uid);
  const Done first = read_on(key, budget, tally);
  if (first != Done::kAll || !looks_twice) return first;
  return read_on(key, budget, tally) == Done::kAll ? Done::kAll : Done::kSome;
}

// Each file's are elsewhere in memory: where they are is fetched first, and then what is there.
void UidCells::prefetch_ahead(std::size_t of, const CellKey& key, const CellBudget& budget) const {
  if (of + 2 * kAhead < bound_.size()) {
    const BoundCells& far = bound_[of + 2 * kAhead];
    __builtin_prefetch(far.source.get());
    __builtin_prefetch(far.places.at.data());
    far.places.former.prefetch();
  }
  if (of + kAhead < bound_.size()) {
    const BoundCells& near = bound_[of + kAhead];
    near.source->prefetch(key, near.places, budget);
    if (key.form.intervals != 0) near.places.former.prefetch_counts();
  }
}

UidCells::Done UidCells::read_on(const CellKey& key, CellBudget& budget, CellTally& tally) {
  CellBudget::Reading reading(budget, party_);
  auto cut = Done::kNothing;
  while (looked_ < bound_.size() && reading.goes_on()) {
    prefetch_ahead(looked_, key, budget);
    const CellsRead done = read_part(bound_[looked_], key, part_, look_, budget, tally);
    reading.add(CellBudget::cost_of(done.cells, key.form.intervals));
    looked_ += done.all ? 1 : 0;
    cut = Done::kSome;
  }
  reading.end();
  if (looked_ < bound_.size()) {
    bound_[looked_].source->note_not_read();
    budget.note_cut(party_.uid);
    return cut;
  }
  finish_look(budget, tally);
  return Done::kAll;
}

void UidCells::finish_look(CellBudget& budget, CellTally& tally) {
  shown_ = std::exchange(look_, {});
  looked_ = 0;
  known_ = bound_.size();
  budget.note_whole(whole_looks_);
  if (!ended_) return;
  tally.book_counts(ended_->not_looked_at);
  if (!ended_->has_looked_at) {
    ended_ = nullptr;
  } else {
    *ended_ = {.not_looked_at = std::move(ended_->looked_at)};
  }
}

bool UidCells::take(const CellSource* source, const CellKey& key, CellTally& tally,
                    std::vector<BoundCells>& taken, const IsLate& is_late) {
  const auto is_its = [source](const BoundCells& each) { return each.source.get() == source; };
  return take_if(is_its, key, tally, taken, is_late);
}

bool UidCells::take_all(const CellKey& key, CellTally& tally, std::vector<BoundCells>& taken,
                        const IsLate& is_late) {
  return take_if([](const BoundCells&) { return true; }, key, tally, taken, is_late);
}

template <typename IsIts>
bool UidCells::take_if(IsIts is_its, const CellKey& key, CellTally& tally,
                       std::vector<BoundCells>& taken, const IsLate& is_late) {
  if (std::ranges::none_of(bound_, is_its)) return true;
  bool has_taken = false, is_cut = false, begins_again = false;
  if (!ended_) ended_ = std::make_unique<Ended>();
  std::size_t place = 0, looked = looked_, known = known_;
  std::erase_if(bound_, [&](BoundCells& each) {
    const bool was_known = place < known_;
    const bool is_in_part = place == looked_ && part_.of_file.next != 0;
    const bool was_looked_at = place++ < looked_;
    if (!is_its(each)) return false;
    is_cut = is_cut || (has_taken && is_late());
    if (is_cut) return false;
    has_taken = true;
    begins_again |= is_in_part;
    ids_.erase({each.source.get(), each.id});
    known -= was_known ? 1 : 0;
    looked -= was_looked_at ? 1 : 0;
    if (!was_known && !was_looked_at) {
      CellSums sums;
      read_last(each, key, sums, tally);
      tally.book_counts(sums);
      taken.push_back(std::move(each));
      return true;
    }
    ended_->has_looked_at |= was_looked_at;
    read_last(each, key, was_looked_at ? ended_->looked_at : ended_->not_looked_at, tally);
    taken.push_back(std::move(each));
    return true;
  });
  looked_ = begins_again ? 0 : looked;
  known_ = known;
  if (looked_ == 0 && (begins_again || part_.of_file.next == 0)) begin_look();
  if (bound_.empty()) book_counts(tally);
  return !is_cut;
}

// There is no look under way, or nothing is left of those that it has looked at, or a part of a
// file is in it that is gone.
void UidCells::begin_look() {
  look_ = {};
  part_ = {};
  if (!std::exchange(ended_->has_looked_at, false)) return;
  ended_->not_looked_at.add(std::exchange(ended_->looked_at, {}));
}

void UidCells::book_counts(CellTally& tally) {
  if (!ended_) return;
  tally.book_counts(ended_->not_looked_at);
  tally.book_counts(ended_->looked_at);
  ended_ = nullptr;
  shown_ = look_ = {};
  part_ = {};
  looked_ = known_ = 0;
}

void UidCells::forget() {
  shown_ = look_ = {};
  part_ = {};
  looked_ = known_ = 0;
  whole_looks_ = {};
  ended_ = nullptr;
  for (BoundCells& each : bound_) each.counted = 0;
}

std::uint64_t UidCells::counted() const {
  std::uint64_t all = 0;
  for (const BoundCells& each : bound_) all += each.counted;
  return all;
}

}  // namespace tallyfs::statistics
