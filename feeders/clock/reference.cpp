#include "feeders/clock/reference.h"

#include <ctime>

namespace tallyfs {
namespace {

std::int64_t to_ns(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::int64_t read(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return to_ns(time);
}

}  // namespace

std::int64_t SystemReference::monotonic_ns() const { return read(CLOCK_MONOTONIC); }
std::int64_t SystemReference::realtime_ns() const { return read(CLOCK_REALTIME); }
std::int64_t SystemReference::boottime_ns() const { return read(CLOCK_BOOTTIME); }
std::int64_t SystemReference::coarse_ns() const { return read(CLOCK_MONOTONIC_COARSE); }
std::int64_t SystemReference::coarse_step_ns() const {
  timespec step{};
  ::clock_getres(CLOCK_MONOTONIC_COARSE, &step);
  return to_ns(step);
}

}  // namespace tallyfs
