// This turns cycles of the machine's counter, which records in rings have, into CLOCK_MONOTONIC.
#pragma once

#include <cstdint>

#include "core/base/int128.h"

namespace tallyfs {

// A value.
struct CounterLine {
  std::uint64_t cycles = 0;
  std::int64_t ns = 0;
  std::int64_t rate = 0;  // ns per cycle, times 2^32; 0: cycles mean nothing

  std::int64_t at(std::uint64_t at_cycles) const {
    const auto distance = static_cast<std::int64_t>(at_cycles - cycles);
    return static_cast<std::int64_t>(ns + ((Int128{distance} * rate) >> 32));
  }
};

// Any thread.
class CounterTimes {
 public:
  virtual ~CounterTimes() = default;
  // For cycles of the last seconds.
  virtual CounterLine line() = 0;
  // Called now and then: is the counter still to be trusted?
  virtual void check() = 0;
};

}  // namespace tallyfs
