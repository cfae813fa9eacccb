// The clock of programs: libtally's time, and the CPU time of the thread that asks.
#include "feeders/clock/program_clock.h"

#include <gtest/gtest.h>
#include <time.h>

namespace tallyfs {
namespace {

std::chrono::nanoseconds worked() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

TEST(ProgramClockTest, HasTheCpuTimeOfTheThread) {
  const ProgramClock clock;
  const auto before = worked();
  const auto told = clock.cpu_time();
  EXPECT_GE(told, before);
  EXPECT_LE(told, worked());
}

}  // namespace
}  // namespace tallyfs
