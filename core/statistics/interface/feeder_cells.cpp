#include "core/statistics/interface/feeder_cells.h"

#include <algorithm>
#include <utility>

#include "core/base/saturating.h"

namespace tallyfs::statistics {

void FeederCells::open(const CellForm& form) {
  is_paused_ = false;
  if (!at_.shape || has_ended_ || form.kind == CellKind::kNone) return;
  Shape& shape = *at_.shape;
  const std::uint32_t before = shape.era.load(std::memory_order_relaxed);
  era_ = before == UINT32_MAX ? 1 : before + 1;
  const std::uint32_t version = shape.version.load(std::memory_order_relaxed);
  shape.version.store(version | 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  shape.range_min.store(form.range_min, std::memory_order_relaxed);
  shape.range_max.store(form.range_max, std::memory_order_relaxed);
  shape.base_interval.store(form.base_interval, std::memory_order_relaxed);
  shape.intervals.store(form.intervals, std::memory_order_relaxed);
  shape.kind.store(static_cast<std::uint32_t>(form.kind), std::memory_order_relaxed);
  shape.version.store((version | 1) + 1, std::memory_order_release);
  shape.era.store(era_, std::memory_order_release);
  is_open_ = true;
}

void FeederCells::forget_era() {
  era_ = 0;
  if (!held_) return;
  held_->taken_out.clear();
  for (UidCells& each : held_->uids) each.forget();
  held_->refused.forget_era();
  held_->tally = {};
  held_->inherited.reset();
}

bool FeederCells::find_taken_out(const std::shared_ptr<const CellSource>& source,
                                 std::uint32_t id) {
  if (!held_) return false;
  for (TakenOut& each : held_->taken_out) {
    const bool is_its = each.lane == source->lane() && each.id == id && each.of_before;
    if (!is_its) continue;
    each = {.lane = each.lane, .id = id, .source = source};
    return true;
  }
  return false;
}

bool FeederCells::bind(std::shared_ptr<const CellSource> source, std::uint32_t id, uid_t owner) {
  if (find_taken_out(source, id)) return true;
  const uid_t uid = source->uid();
  const CellRank rank = source->is_trusted() ? CellRank::kTrusted
                        : uid == owner       ? CellRank::kOwner
                                             : CellRank::kOther;
  // A feeder that got no response asks again.
  std::size_t bound = 0, of_others = 0, of_uid = 0;
  for (const UidCells& each : held().uids) {
    bound += each.size();
    if (each.party().rank == CellRank::kOther) of_others += each.size();
    if (each.party().uid != uid) continue;
    if (each.has(source.get(), id)) return true;
    of_uid = each.size();
  }
  if (bound >= kSourcesMax) return false;
  const bool are_many = of_others >= kOthersSourcesMax || of_uid >= kOthersSourcesOfUidMax;
  if (rank == CellRank::kOther && are_many) return false;
  std::erase_if(held_->taken_out, [&](const TakenOut& each) {
    return each.lane == source->lane() && each.id == id;
  });
  cells_of({.uid = uid, .rank = rank, .credit = source->credit()}).bind(std::move(source), id);
  return true;
}

UidCells& FeederCells::cells_of(const CellParty& party) {
  auto& uids = held_->uids;
  const auto found = std::ranges::find_if(
      uids, [&](const UidCells& each) { return each.party().uid == party.uid; });
  if (found != uids.end()) return *found;
  const auto behind = std::ranges::find_if(
      uids, [&](const UidCells& each) { return each.party().rank > party.rank; });
  return *uids.insert(behind, UidCells(party));
}

void FeederCells::read(const CellForm& form, CellBudget& budget) {
  if (!held_) return;
  auto& uids = held_->uids;
  const auto is_other = [](const UidCells& each) { return each.party().rank == CellRank::kOther; };
  const auto others = std::ranges::find_if(uids, is_other);
  for (auto each = uids.begin(); each != others; ++each) {
    each->read(key(form), budget, held_->tally);
  }
  read_in_turn({others, uids.end()}, form, budget);
  held_->refused.read(key(form), budget);
  if (std::ranges::all_of(held_->uids, &UidCells::is_known)) forget_inherited();
}

// Where the first was cut, the next look begins: after it, if something of it was read. So all have
// their turn, however little there is for them together.
void FeederCells::read_in_turn(std::span<UidCells> uids, const CellForm& form, CellBudget& budget) {
  if (uids.empty()) return;
  const std::size_t first = held_->first_of_others;
  bool is_cut = false;
  for (std::size_t i = 0; i < uids.size(); ++i) {
    const std::size_t place = (first + i) % uids.size();
    const auto done = uids[place].read(key(form), budget, held_->tally);
    if (done == UidCells::Done::kAll || std::exchange(is_cut, true)) continue;
    held_->first_of_others = done == UidCells::Done::kSome ? place + 1 : place;
  }
}

// The contents of lanes that could not be transferred stay.
void FeederCells::forget_inherited() {
  if (!held_->inherited || held_->uids.empty()) return;
  held_->inherited.reset();
  held_->tally.inherited = 0;
}

bool FeederCells::take(const CellForm& form, const CellSource* source, const IsLate& is_late) {
  if (!held_) return true;
  bool all = true;
  std::vector<BoundCells> taken;
  for (UidCells& each : held_->uids) {
    all &= each.take(source, key(form), held_->tally, taken, is_late);
  }
  note_taken_out(taken);
  all &= held_->refused.take(source, key(form), is_late);
  forget_empty();
  return all;
}

bool FeederCells::take_others(const CellForm& form, const IsLate& is_late) {
  if (!held_) return true;
  bool all = true;
  for (UidCells& each : held_->uids) {
    if (each.party().rank != CellRank::kOther || !all) continue;
    std::vector<BoundCells> taken;
    all = each.take_all(key(form), held_->tally, taken, is_late) && !is_late();
    note_taken_out(taken);
    held_->refused.add(each.party(), std::move(taken));
  }
  forget_empty();
  return all;
}

void FeederCells::note_taken_out(const std::vector<BoundCells>& cells) {
  forget_taken_out();
  for (const BoundCells& each : cells) {
    held_->taken_out.push_back({.lane = each.source->lane(), .id = each.id, .source = each.source});
  }
}

// The file is gone, here and for the next server.
void FeederCells::forget_taken_out() {
  std::erase_if(held_->taken_out, [](const TakenOut& each) { return each.source.expired(); });
}

void FeederCells::forget_empty() {
  const auto is_empty = [](const UidCells& each) { return each.size() == 0; };
  if (std::ranges::all_of(held_->uids, is_empty)) forget_inherited();
  if (!held_->inherited) std::erase_if(held_->uids, is_empty);
}

// While older sums of the same files are shown, they stay.
std::optional<CellSums> FeederCells::take_final_sums() {
  if (!held_ || held_->inherited || !held_->tally.has_final) return std::nullopt;
  held_->tally.has_final = false;
  return std::exchange(held_->tally.final_sums, {});
}

std::optional<CellSums> FeederCells::ended_sums() const {
  if (!held_) return std::nullopt;
  std::optional<CellSums> all;
  const auto add = [&all](const CellSums& sums) {
    if (!all) all.emplace();
    all->add(sums);
  };
  if (held_->tally.has_final) add(held_->tally.final_sums);
  for (const UidCells& each : held_->uids) each.each_ended(add);
  return all;
}

CellSums FeederCells::handed_on() const {
  CellSums all;
  if (!held_) return all;
  const bool has_older = held_->inherited && !ended_sums();
  if (has_older) all = *held_->inherited;
  all.samples = held_->tally.inherited;
  for (const UidCells& each : held_->uids) {
    if (!held_->inherited && !each.has_ended()) {
      const std::uint64_t samples = all.samples;
      all.add(each.sums());
      all.samples = samples;
    }
    add_saturating(all.samples, each.counted());
  }
  return all;
}

void FeederCells::count_samples() {
  if (!held_) return;
  add_saturating(held_->untold, held_->tally.uncounted);
  held_->tally.uncounted = 0;
}

}  // namespace tallyfs::statistics
