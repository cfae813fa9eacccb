#include "core/statistic/feeder_cells.h"

#include <algorithm>
#include <utility>

namespace tallyfs {

void FeederCells::open(const CellForm& form) {
  if (!at_.shape || form.kind == CellKind::kNone) return;
  Shape& shape = *at_.shape;
  const std::uint32_t before = shape.era.load(std::memory_order_relaxed);
  era_ = before == UINT32_MAX ? 1 : before + 1;
  form_ = form;
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

bool FeederCells::bind(std::shared_ptr<const CellSource> source, std::uint32_t id) {
  if (bound_.size() >= kSourcesMax) return false;
  bound_.push_back({std::move(source), id});
  return true;
}

void FeederCells::read(CellBudget& budget) {
  if (bound_.empty()) return;
  if (budget.left == 0) return bound_.front().source->note_not_read();
  sums_ = {};
  std::size_t cells = 0;
  for (Bound& each : bound_) {
    each.source->add_up(key(each), each.places, sums_);
    cells += 1 + each.places.at.size();
  }
  budget.left -= std::min(budget.left, cells);
}

CellSums FeederCells::take(const CellSource* source) {
  CellSums taken;
  std::erase_if(bound_, [&](Bound& each) {
    if (each.source.get() != source) return false;
    each.source->add_up(key(each), each.places, taken);
    return true;
  });
  sums_ = {};
  return taken;
}

}  // namespace tallyfs
