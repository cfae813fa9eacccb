// Samples that feeders count in cells of their own.
#include <utility>

#include "core/statistics/interface/interface.h"

namespace tallyfs::statistics {

Result<void> Interface::bind_cells(Statistic* statistic, std::shared_ptr<const CellSource> source,
                                   std::uint32_t id) {
  const MutexLock lock(mutex_);
  if (!statistic->bind_cells(std::move(source), id, uid_)) {
    return Error{ErrorCode::kNoSpace, "too many feeders have cells of this statistic"};
  }
  if (!cell_rounds_) cell_rounds_ = std::make_unique<CellRounds>();
  return {};
}

void Interface::find_taken_out(Statistic* statistic,
                               const std::shared_ptr<const CellSource>& source, std::uint32_t id) {
  const MutexLock lock(mutex_);
  statistic->find_taken_out(source, id);
}

bool Interface::absorb_cells(Statistic* statistic, const CellSource* source, Timestamp now,
                             const IsLate& is_late) {
  const MutexLock lock(mutex_);
  const bool all = statistic->absorb_cells(source, is_late);
  if (count_cells(*statistic)) note_samples(now);
  return all;
}

// To look for those that are left costs, too: a step takes out some cells at least.
bool Interface::set_feed(Feed feed, Timestamp now, const IsLate& is_late) {
  constexpr unsigned kAtOnce = 16;
  unsigned taken = 0;
  const IsLate is_late_now = [&] { return ++taken % kAtOnce == 0 && is_late(); };
  const MutexLock lock(mutex_);
  if (feed_.exchange(feed, std::memory_order_relaxed) != feed) note_change(now);
  for (Statistic& statistic : statistics_) {
    bool all = true;
    if (feed == Feed::kOwner) {
      all = statistic.take_out_cells_of_others(is_late_now);
    } else {
      statistic.let_others_feed();
    }
    if (count_cells(statistic)) note_samples(now);
    if (!all) return false;
  }
  return true;
}

void Interface::end_cells(Timestamp now, CellBudget& budget) {
  const MutexLock lock(mutex_);
  for (Statistic& statistic : statistics_) statistic.end_cells(budget);
  advance(now, budget);
}

// Counts what was found in the cells of this one. True: there were more samples than before.
bool Interface::count_cells(Statistic& statistic) {
  const std::uint64_t more = statistic.count_cells();
  samples_ += more;
  const std::uint64_t refused = statistic.take_refused();
  if (refused != 0 && refused_) refused_->fetch_add(refused, std::memory_order_relaxed);
  return more != 0;
}

void Interface::read_cells(CellBudget& budget) const {
  if (!cell_rounds_) return;
  const bool is_an_open = budget.is_of_one_interface();
  if (is_an_open) {
    cell_looks_.begin();
    cell_rounds_->begin_open();
    budget.go_by(*cell_rounds_);
  }
  for (const Statistic& statistic : statistics_) statistic.read_cells(budget);
  if (!is_an_open) return;
  cell_rounds_->end_open();
  cell_looks_.end();
}

}  // namespace tallyfs::statistics
