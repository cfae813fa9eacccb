#include "core/statistics/interface/refused_cells.h"

namespace tallyfs::statistics {

void RefusedCells::add(const CellParty& party, std::vector<BoundCells> cells) {
  for (BoundCells& each : cells) cells_.push_back({.cells = std::move(each), .party = party});
}

CellsRead RefusedCells::read_part(Refused& refused, CellKey key, CellBudget& budget) {
  BoundCells& cells = refused.cells;
  CellSums sums;
  key.id = cells.id;
  const CellsRead read =
      cells.source->add_up(key, cells.places, refused.part, sums, budget, refused.party);
  refused.samples += sums.samples;
  if (!read.all) return read;
  const std::uint64_t samples = std::exchange(refused.samples, 0);
  refused.part = {};
  if (samples > cells.counted) samples_ += samples - std::exchange(cells.counted, samples);
  return read;
}

// A uid for which nothing is left gives way to the next one.
void RefusedCells::read(const CellKey& key, CellBudget& budget) {
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    Refused& each = cells_[next_++ % cells_.size()];
    CellBudget::Reading reading(budget, each.party);
    for (bool is_read = false; !is_read && reading.goes_on();) {
      const CellsRead done = read_part(each, key, budget);
      reading.add(CellBudget::cost_of(done.cells, key.form.intervals));
      is_read = done.all;
    }
    reading.end();
  }
}

bool RefusedCells::take(const CellSource* source, const CellKey& key, const IsLate& is_late) {
  bool has_taken = false, is_cut = false;
  std::erase_if(cells_, [&](Refused& each) {
    if (each.cells.source.get() != source) return false;
    is_cut = is_cut || (has_taken && is_late());
    if (is_cut) return false;
    has_taken = true;
    CellBudget none;
    while (!read_part(each, key, none).all) {
    }
    return true;
  });
  return !is_cut;
}

void RefusedCells::forget_era() {
  for (Refused& each : cells_) {
    each.cells.counted = 0;
    each.part = {};
    each.samples = 0;
  }
}

}  // namespace tallyfs::statistics
