// Where the cells of one feeder's threads are found, as a statistic sees it: a lane file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/lane/cell_reader.h"

namespace tallyfs {

// Where the cells of one id are in a lane file, as far as they were found. Confined to its owner.
struct CellPlaces {
  std::uint64_t changes = UINT64_MAX;  // the file's count when they were looked for
  std::vector<std::uint32_t> at{};
};

// How many reads of entries and indexes one open may take. A look that the budget allowed to begin
// is done to its end.
struct LookBudget {
  static constexpr std::size_t kLooksMax = 25'000;
  static constexpr std::size_t kUnbounded = SIZE_MAX;
  std::size_t left = kLooksMax;

  void charge(std::size_t looks) { left -= std::min(left, looks); }
};

// Any thread. Shared by the statistics that it has cells of and by what made it; the last of them
// frees it.
class CellSource {
 public:
  virtual ~CellSource() = default;

  // Adds what the cells of all its threads hold to sums. Looks for places when there may be others
  // and the budget allows.
  virtual void add_up(const CellKey& key, CellPlaces& places, CellSums& sums,
                      LookBudget& looks) const = 0;
  // Its cells were not read, as there were too many.
  virtual void note_not_read() const = 0;
};

}  // namespace tallyfs
