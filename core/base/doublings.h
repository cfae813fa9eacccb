// Into which interval of a logarithmic scale a distance falls. Pure.
#pragma once

#include <algorithm>
#include <cstdint>

namespace tallyfs {

// The smallest j with base << j >= distance, without a division and without a loop: base shifted
// to the bit length of distance is either enough or one shift short of it. base >= 1.
inline unsigned doublings(std::uint64_t distance, std::uint64_t base) {
  distance = std::max(distance, base);
  // As bit_width() of both, but neither is 0, which need not be asked.
  const auto highest_bit = [](std::uint64_t number) { return 63 ^ __builtin_clzll(number); };
  const auto shift = static_cast<unsigned>(highest_bit(distance) - highest_bit(base));
  return shift + ((base << shift) < distance ? 1 : 0);
}

}  // namespace tallyfs
