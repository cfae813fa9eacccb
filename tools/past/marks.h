// The unusual properties of a point, as bits: samples that are not the sum of its cells, another
// number, unknown pieces. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/past/point.h"

namespace tallyfs::past {

enum Mark : std::uint64_t {
  kHasCells = 1,
  kHasSamples = 2,
  kHasNumber = 4,
  kHasTotal = 8,
  kTotalIsSamples = 16,
  kHasLast = 32,
  kHasMin = 64,
  kHasMax = 128,
  kHasLeftOut = 256,
  kIsPartial = 512,
};

// `pieces`: how many finest pieces a whole point knows.
std::uint64_t marks_of(const Point& point, std::uint64_t pieces);
// The sum of the counts; 0 if it is beyond 64 bits.
std::uint64_t counted(const std::vector<Cell>& cells);

}  // namespace tallyfs::past
