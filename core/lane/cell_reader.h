// Reads a cell that another process may be writing, or that hostile code fills with anything: each
// word is loaded once, then checked. Stateless; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/lane/cell_sums.h"
#include "core/lane/lane_fault.h"
#include "core/lane/layout.h"

namespace tallyfs {

// The cells that count: of this statistic, in this era, of this form.
struct CellKey {
  std::uint64_t number = 0;
  std::uint32_t id = 0;  // the feeder's
  std::uint32_t era = 0;
  CellForm form;
};

enum class CellRead {
  kRead,
  kVoid,  // another statistic's or era's: counts for nothing
  kBad,   // what no feeder writes
};

// The cell at this place counts, as far as its words say now.
bool is_cell_of(std::span<const std::byte> file, std::uint64_t at, const CellKey& key);

// Reads what the cell at this place of the file holds into sums, which are empty before, and
// afterwards unless it returns kRead. former: what it held when it was read before, in the same
// era; nullptr: nothing is known of that. finding: what is wrong, of kBad.
CellRead read_cell(std::span<const std::byte> file, std::uint64_t at, const CellKey& key,
                   const CellSums* former, CellSums& sums, LaneFinding& finding);

}  // namespace tallyfs
