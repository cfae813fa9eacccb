// The upper bounds of an array's intervals:
//   lin   range_min, range_min + b, range_min + 2b, range_min + 3b, ...
//   log2  range_min, range_min + b, range_min + 2b, range_min + 4b, ...
// up to and including the first that is >= range_max (docs/statistics.md). Immutable.
//
// Distances from range_min are unsigned and the bounds have 128 bits: range_max - range_min takes
// all of 64 bits, and the last bound may lie one step beyond what an X can be.
#pragma once

#include <cstdint>

#include "core/base/int128.h"
#include "core/statistics/definition/definition.h"

namespace tallyfs::statistics {

class ArrayBounds {
 public:
  // base_interval >= 1, range_min <= range_max.
  ArrayBounds(const ArraySettings& settings, std::int64_t range_min, std::int64_t range_max);

  // How many bounds there are, which may be more than an array can have (is_small_enough()).
  UInt128 size() const { return size_; }
  // Lines printed: one for each bound, and one for what lies above the last.
  UInt128 intervals() const { return size_ + 1; }
  bool is_small_enough() const { return intervals() <= kIntervalsBound; }

  // i < size().
  Int128 operator[](std::uint64_t i) const;

 private:
  const std::uint64_t base_interval_;
  const Scale scale_;
  const std::int64_t range_min_;
  UInt128 size_;
};

}  // namespace tallyfs::statistics
