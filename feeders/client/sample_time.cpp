#include "feeders/client/sample_time.h"

#include <ctime>

namespace tallyfs {

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

#if TALLY_CLOCK
// $TALLY_CLOCK may name another driver; `off` is for the program's own clock.
const Driver* SampleTime::choose_driver() {
  const Driver* const driver = driver_by_environment();
  return driver ? driver : best_driver();
}
#endif

}  // namespace tallyfs
