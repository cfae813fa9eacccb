// Where the cells of one feeder's threads are found, as a statistic sees it: a lane file.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/lane/cell_budget.h"
#include "core/lane/cell_reader.h"
#include "core/lane/former_readings.h"
#include "core/lane/room_share.h"

namespace tallyfs {

// Where the cells of one id are in a lane file, as far as they were found. Confined to its owner.
struct CellPlaces {
  std::uint64_t changes = UINT64_MAX;  // the file's count when they were looked for
  std::vector<std::uint32_t> at{};     // each once, in their order
  FormerReadings former{};             // of the cells there, and of those that were
  RoomShare share{};                   // of the bytes of cells that the file has
};

// Where a reading of the cells of one id continues that was interrupted. A value.
struct CellsPart {
  std::size_t next = 0;     // of the places
  std::uint64_t bytes = 0;  // of the cells so far
  std::size_t known = 0;    // readings of the places so far
};

// How many cells were read, and whether these were the last.
struct CellsRead {
  std::size_t cells = 0;
  bool all = true;
};

// Any thread. Shared by the statistics that it has cells of and by what made it; the last of them
// frees it.
class CellSource {
 public:
  virtual ~CellSource() = default;

  virtual uid_t uid() const = 0;
  // The number of the lane, which no other one has; 0: it has none yet.
  virtual std::uint64_t lane() const { return 0; }
  // Root's, or the daemon's uid.
  virtual bool is_trusted() const = 0;
  // For what reading its cells costs; nullptr: it needs none.
  virtual std::shared_ptr<CellCredit> credit() const = 0;
  // Adds what the cells of some of its threads hold to sums: up to kCellsAtOnce, from the part on.
  // At its beginning it looks for places when there may be others and the budget has looks for the
  // party, whose file it is.
  static constexpr std::size_t kCellsAtOnce = CellBudget::Reading::kCostBetweenLooks;
  virtual CellsRead add_up(const CellKey& key, CellPlaces& places, CellsPart& part, CellSums& sums,
                           CellBudget& budget, const CellParty& party) const = 0;
  // Has the processor fetch what add_up() will look at. Changes nothing.
  virtual void prefetch(const CellKey& key, const CellPlaces& places,
                        const CellBudget& budget) const = 0;
  // Its cells were not read, as there were too many.
  virtual void note_not_read() const = 0;
};

}  // namespace tallyfs
