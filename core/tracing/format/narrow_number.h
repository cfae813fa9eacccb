// A number as a field of fewer bytes holds it. Pure.
#pragma once

#include <cstdint>

namespace tallyfs::tracing {

// Keeps the lowest `bytes` bytes (1 or more) and extends them, with the sign if is_signed.
inline std::uint64_t narrow_number(std::uint64_t value, std::uint32_t bytes, bool is_signed) {
  if (bytes >= 8) return value;
  const unsigned unused = 64 - 8 * bytes;
  const std::uint64_t top = value << unused;
  return is_signed ? static_cast<std::uint64_t>(static_cast<std::int64_t>(top) >> unused)
                   : top >> unused;
}

}  // namespace tallyfs::tracing
