// What cells of one statistic hold together: what is merged into a copy of its data. A value.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/int128.h"
#include "core/model/shape.h"

namespace tallyfs {

struct CellSums {
  std::uint64_t samples = 0;
  std::uint64_t outside = 0;  // of them, those out of range
  std::uint64_t number = 0;   // sum of Y, of increments and ranges
  std::int64_t min = std::numeric_limits<std::int64_t>::max();  // min > max: no sample in range
  std::int64_t max = std::numeric_limits<std::int64_t>::min();
  Int128 sum = 0;  // of X * Y
  bool has_negative = false;
  std::vector<std::uint64_t> counts{};  // of an array's intervals; empty: no cell

  // Adds those of another; true when a counter reached the end of its type, and stays there.
  bool add(const CellSums& other);
};

}  // namespace tallyfs
