// Has the processor fetch memory that is looked at soon. No address is wrong: nothing is read.
#pragma once

#include <cstddef>

namespace tallyfs {

inline void prefetch_lines(const void* begin, std::size_t bytes) {
  constexpr std::size_t kLine = 64;
  const char* const from = static_cast<const char*>(begin);
  for (std::size_t at = 0; at < bytes; at += kLine) __builtin_prefetch(from + at);
}

}  // namespace tallyfs
