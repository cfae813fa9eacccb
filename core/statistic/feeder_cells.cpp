#include "core/statistic/feeder_cells.h"

#include <algorithm>
#include <utility>

#include "core/base/saturating.h"

namespace tallyfs {

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
  held_->sums = {};
  held_->counted = 0;
}

bool FeederCells::bind(std::shared_ptr<const CellSource> source, std::uint32_t id) {
  if (!held_) held_ = std::make_unique<Held>();
  // A feeder that got no response asks again.
  for (const Bound& each : held_->bound) {
    if (each.source == source && each.id == id) return true;
  }
  if (held_->bound.size() >= kSourcesMax) return false;
  held_->bound.push_back({std::move(source), id});
  return true;
}

void FeederCells::read(const CellForm& form, CellBudget& budget) {
  if (!has_cells()) return;
  if (budget.left == 0) return held_->bound.front().source->note_not_read();
  held_->sums = {};
  std::size_t cells = 0;
  for (Bound& each : held_->bound) {
    each.source->add_up(key(each, form), each.places, held_->sums, budget.looks);
    cells += 1 + each.places.at.size();
  }
  budget.left -= std::min(budget.left, cells);
}

CellSums FeederCells::take(const CellForm& form, const CellSource* source) {
  CellSums taken;
  if (!held_) return taken;
  std::erase_if(held_->bound, [&](Bound& each) {
    if (each.source.get() != source) return false;
    // It has ended: there is nothing to look for.
    LookBudget none{0};
    each.source->add_up(key(each, form), each.places, taken, none);
    return true;
  });
  held_->sums = {};
  held_->counted = 0;
  return taken;
}

std::uint64_t FeederCells::uncounted() const {
  if (!held_ || held_->sums.samples <= held_->counted) return 0;
  return held_->sums.samples - held_->counted;
}

void FeederCells::count_samples() {
  if (!held_) return;
  add_saturating(held_->untold, uncounted());
  held_->counted = held_->sums.samples;
}

}  // namespace tallyfs
