// The time for the programs of this project: CLOCK_MONOTONIC by sched_clock(), or by the system's
// call if the clock is not built or $TALLY_CLOCK is off, which is for programs that only measure.
// Stateless, so thread-safe; a header alone, since without the clock this room is not built.
#pragma once

#include <chrono>

#include "core/base/clock.h"
#include "tally/clock.h"

namespace tallyfs {

inline std::chrono::nanoseconds monotonic_now() {
  const std::chrono::nanoseconds ns(sched_clock());
  return ns.count() != 0 ? ns : SystemClock::monotonic();
}

class ProgramClock final : public Clock {
 public:
  Timestamp now() const override {
    return {.monotonic = monotonic_now(), .realtime = SystemClock::realtime()};
  }
  std::chrono::nanoseconds cpu_time() const override { return SystemClock().cpu_time(); }
};

}  // namespace tallyfs
