// Sums that stop at the end of their type instead of wrapping around: a counter that stands still
// is seen to be at its end, one that wrapped is believed.
#pragma once

#include <cstdint>
#include <limits>

#include "core/base/int128.h"

namespace tallyfs {

// numeric_limits knows no 128 bits in strict C++.
inline constexpr Int128 kInt128Max = static_cast<Int128>(~UInt128{0} >> 1);
inline constexpr Int128 kInt128Min = -kInt128Max - 1;

// True when the sum did not fit and stands at the end of its type.
inline bool add_saturating(std::uint64_t& sum, std::uint64_t more) {
  if (!__builtin_add_overflow(sum, more, &sum)) [[likely]]
    return false;
  sum = std::numeric_limits<std::uint64_t>::max();
  return true;
}

inline bool add_saturating(Int128& sum, Int128 more) {
  if (!__builtin_add_overflow(sum, more, &sum)) [[likely]]
    return false;
  sum = more < 0 ? kInt128Min : kInt128Max;
  return true;
}

// X * Y. Always fits: |X| <= 2^63 and Y < 2^64.
inline Int128 product(std::int64_t x, std::uint64_t y) {
  return static_cast<Int128>(x) * static_cast<Int128>(y);
}

}  // namespace tallyfs
