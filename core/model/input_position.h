// How much of the input has been taken in: what a saved statistic knows, so that what the intake's
// journal has beyond it is taken in again after a kill, each sample once. Values.
#pragma once

#include <cstdint>
#include <functional>

namespace tallyfs {

// Two streams, each with an order of its own. Places only grow; 0: nothing, or there is no journal.
struct InputPosition {
  std::uint64_t socket = 0;  // a place in a datagram: what is before it was taken in
  std::uint64_t rings = 0;   // the same in what was taken out of rings

  bool operator==(const InputPosition&) const = default;
};

// A part of the socket's stream that is taken in under one lock.
struct InputSpan {
  std::uint64_t from = 0;
  std::uint64_t until = 0;
};

// Calls `save` with what was taken in, while nothing more is.
using AtInput = std::function<void(const std::function<void(const InputPosition&)>& save)>;
inline void at_no_input(const std::function<void(const InputPosition&)>& save) { save({}); }

}  // namespace tallyfs
