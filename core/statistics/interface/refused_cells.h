// Cells of feeders that may not feed a statistic any more, and go on adding to them: what comes
// there is counted as refused, and belongs to no sum. Confined to its FeederCells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/lane/cell_sums.h"
#include "core/statistics/interface/bound_cells.h"

namespace tallyfs::statistics {

class RefusedCells {
 public:
  bool empty() const { return cells_.empty(); }
  // Adds cells of one uid, which were read for the last time just now.
  void add(const CellParty& party, std::vector<BoundCells> cells);
  // As far as the budget goes; the next reading goes on there.
  void read(const CellKey& key, CellBudget& budget);
  // Reads those of a file whose feeder has ended for the last time, one id at least, and takes them
  // out. False: some are left, as it was late.
  bool take(const CellSource* source, const CellKey& key, const IsLate& is_late);
  // Forgets the cells without reading them again.
  void forget() { cells_.clear(); }
  // The era is over: they begin anew.
  void forget_era();
  // The samples that were found since the last call.
  std::uint64_t take_samples() { return std::exchange(samples_, 0); }

 private:
  struct Refused {
    BoundCells cells;
    CellParty party;
    // The progress of a reading that was cut.
    CellsPart part{};
    std::uint64_t samples = 0;
  };

  CellsRead read_part(Refused& refused, CellKey key, CellBudget& budget);

  std::vector<Refused> cells_;
  std::size_t next_ = 0;  // to be read, modulo their number
  std::uint64_t samples_ = 0;
};

}  // namespace tallyfs::statistics
