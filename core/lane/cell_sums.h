// The sum of one statistic's cells. A reader merges it into a copy of the statistic's data. A
// value.
//
// All kinds of cells (core/model/shape.h) have samples and outside. Increments add number; ranges
// add number, sum, min and max; products add sum and has_negative; arrays add those two and counts.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/int128.h"
#include "core/model/shape.h"

namespace tallyfs {

struct CellSums {
  std::uint64_t samples = 0;
  std::uint64_t outside = 0;                                    // of them, those out of range
  std::uint64_t number = 0;                                     // sum of Y
  std::int64_t min = std::numeric_limits<std::int64_t>::max();  // min > max: no sample in range
  std::int64_t max = std::numeric_limits<std::int64_t>::min();
  Int128 sum = 0;  // of X * Y
  bool has_negative = false;
  std::vector<std::uint64_t> counts{};  // of an array's intervals; empty: no cell

  // Adds the counters of `other`. True if a counter reached the end of its type, where it stays.
  bool add(const CellSums& other);
};

}  // namespace tallyfs
