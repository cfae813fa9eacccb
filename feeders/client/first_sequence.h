// The number before that of a program's first request: at random. A sender in another network
// namespace can have the daemon respond to an abstract address of its choice, which may be ours. A
// response to such a request bears a number of none of our own, and is passed over.
#pragma once

#include <sys/random.h>

#include <cstdint>

namespace tallyfs {

inline std::uint32_t draw_sequence() {
  std::uint32_t sequence = 0;
  if (::getrandom(&sequence, sizeof sequence, GRND_NONBLOCK) != sizeof sequence) return 0;
  return sequence;
}

}  // namespace tallyfs
