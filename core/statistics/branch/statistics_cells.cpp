// The cells in which feeders count the samples of statistics, and what comes out of their rings
// (core/lane/FORMAT.md).
#include <utility>

#include "core/statistics/branch/runs.h"
#include "core/statistics/branch/statistics_branch.h"

namespace tallyfs::statistics {

Result<void> StatisticsBranch::bind_cells(std::uint64_t number,
                                          std::shared_ptr<const CellSource> source,
                                          std::uint32_t id) {
  const MutexLock lock(mutex_);
  const auto* const entry = statistics_.find(number);
  if (!entry) return Error{ErrorCode::kStale, "a statistic numbered by another daemon"};
  const StatisticEntry& of = **entry;
  if (!is_fed_by(*of.owner, source->uid())) {
    of.owner->interface->find_taken_out(of.statistic, source, id);
    return not_fed_by_all(*of.owner, source->uid());
  }
  return of.owner->interface->bind_cells(of.statistic, std::move(source), id);
}

Subject StatisticsBranch::subject_of(std::uint64_t number) const {
  const MutexLock lock(mutex_);
  const auto* const entry = statistics_.find(number);
  return entry ? (*entry)->owner->interface.get() : nullptr;
}

bool StatisticsBranch::absorb_cells(std::uint64_t number, const CellSource* source, Timestamp now,
                                    const IsLate& is_late) {
  const MutexLock lock(mutex_);
  const auto* const entry = statistics_.find(number);
  if (!entry) return true;
  // Which cells it has taken is to be saved, though they add nothing that a reader has not seen.
  (*entry)->owner->changes += 1;
  return (*entry)->owner->interface->absorb_cells((*entry)->statistic, source, now, is_late);
}

StatisticsBranch::TakenFromRing StatisticsBranch::add(std::span<const NumberedRun> runs,
                                                      uid_t sender, Timestamp now) {
  Taken taken;
  std::uint64_t lost = 0;
  const MutexLock lock(mutex_);
  Runs into(workspace_, taken, now);
  for (const NumberedRun& each : runs) {
    const auto* const entry = statistics_.find(each.number);
    if (entry && is_fed_by(*(*entry)->owner, sender)) {
      into.push(*(*entry)->owner, (*entry)->statistic, each.samples);
    } else {
      lost += each.samples.size();
    }
  }
  into.flush();
  return {.samples = taken.samples, .lost = lost, .saturated = std::move(taken.saturated)};
}

CellRounds StatisticsBranch::begin_cell_open() const {
  const MutexLock lock(mutex_);
  cell_rounds_.begin_open();
  return cell_rounds_;
}

void StatisticsBranch::end_cell_open(CellRounds& rounds) const {
  const MutexLock lock(mutex_);
  cell_rounds_.end_open(rounds);
}

// First those to come, so that none is forgotten.
void StatisticsBranch::end_cells(Timestamp now) {
  {
    const MutexLock lock(mutex_);
    has_ended_cells_ = true;
  }
  CellBudget budget = CellBudget::for_the_end();
  const List all = list();
  for (const Listed& each : *all) each.interface->end_cells(now, budget);
}

}  // namespace tallyfs::statistics
