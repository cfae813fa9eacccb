#include "core/base/clock.h"

#include <ctime>

namespace tally {
namespace {

std::chrono::nanoseconds read(clockid_t id) {
  timespec time{};
  ::clock_gettime(id, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

Moment SystemClock::now() const {
  return {.monotonic = read(CLOCK_MONOTONIC), .realtime = read(CLOCK_REALTIME)};
}

}  // namespace tally
