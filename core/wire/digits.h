// Eight decimal digits at a time, in the bytes of a word; the first of a text is in the lowest.
// Pure.
#pragma once

#include <cstdint>

namespace tallyfs::wire {

inline constexpr std::uint64_t kEachByte = 0x0101'0101'0101'0101;

// Marks each byte that is not 0 to 9, and perhaps bytes above such a byte. '0' was subtracted from
// each byte before.
inline std::uint64_t mark_others(std::uint64_t bytes) {
  return ((bytes + (0x80 - 10) * kEachByte) | bytes) & (0x80 * kEachByte);
}

// The number of eight digits, of which the lowest byte has the highest. Neighbours are joined:
// ones, twos, fours.
inline std::uint64_t number_of(std::uint64_t ones) {
  const std::uint64_t twos = (ones * 10 + (ones >> 8)) & 0x00FF'00FF'00FF'00FF;
  const std::uint64_t fours = (twos * 100 + (twos >> 16)) & 0x0000'FFFF'0000'FFFF;
  return (fours * 10'000 + (fours >> 32)) & 0xFFFF'FFFF;
}

inline std::int64_t with_sign(std::uint64_t magnitude, bool negative) {
  return negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
}

}  // namespace tallyfs::wire
