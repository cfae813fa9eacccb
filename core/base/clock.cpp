#include "core/base/clock.h"

#include <ctime>

namespace tallyfs {
namespace {

std::chrono::nanoseconds read(clockid_t id) {
  timespec time{};
  ::clock_gettime(id, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

std::chrono::nanoseconds SystemClock::monotonic() { return read(CLOCK_MONOTONIC); }
std::chrono::nanoseconds SystemClock::realtime() { return read(CLOCK_REALTIME); }
std::chrono::nanoseconds SystemClock::cpu_time() const { return read(CLOCK_THREAD_CPUTIME_ID); }

}  // namespace tallyfs
