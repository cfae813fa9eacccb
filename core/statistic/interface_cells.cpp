// What feeders count in cells of their own.
#include <utility>

#include "core/statistic/interface.h"

namespace tallyfs {

Result<void> Interface::bind_cells(Statistic* statistic, std::shared_ptr<const CellSource> source,
                                   std::uint32_t id) {
  const MutexLock lock(mutex_);
  if (!statistic->bind_cells(std::move(source), id)) {
    return Error{ErrorCode::kNoSpace, "too many feeders have cells of this statistic"};
  }
  has_cells_ = true;
  return {};
}

void Interface::absorb_cells(Statistic* statistic, const CellSource* source, LookBudget& looks,
                             Moment now) {
  const MutexLock lock(mutex_);
  statistic->absorb_cells(source, looks);
  if (count_cells(*statistic)) note_change(now);
}

void Interface::end_cells(Moment now) {
  const MutexLock lock(mutex_);
  for (Statistic& statistic : statistics_) statistic.end_cells();
  advance(now);
}

// Counts what the cells of this one hold. True: there were more samples than before.
bool Interface::count_cells(Statistic& statistic) {
  CellBudget budget;
  statistic.read_cells(budget);
  const std::uint64_t more = statistic.count_cells();
  samples_ += more;
  return more != 0;
}

void Interface::read_cells() const {
  if (!has_cells_) return;
  CellBudget budget;
  for (const Statistic& statistic : statistics_) statistic.read_cells(budget);
}

}  // namespace tallyfs
