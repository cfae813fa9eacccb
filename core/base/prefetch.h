// Asks the processor to fetch memory that the caller will read soon. It is a hint: an invalid
// address does no harm.
#pragma once

#include <cstddef>

namespace tallyfs {

// Fetches the cache lines of `begin`, begin + 64, and so on below begin + bytes. If `begin` is not
// at the start of a line, the last line may be missed.
inline void prefetch_lines(const void* begin, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  const char* const from = static_cast<const char*>(begin);
  for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(from + at);
}

}  // namespace tallyfs
