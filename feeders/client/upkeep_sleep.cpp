#include "feeders/client/upkeep_sleep.h"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace tallyfs {
namespace {

long futex(const void* word, int operation, std::uint32_t value, const timespec* time_max) {
  return ::syscall(SYS_futex, word, operation, value, time_max, nullptr, 0);
}

}  // namespace

void UpkeepSleep::sleep(std::chrono::nanoseconds time_max) {
  const Depth depth = depth_.load();
  if (depth == Depth::kAwake) return;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time_max);
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = (time_max - seconds).count()};
  futex(&depth_, FUTEX_WAIT_PRIVATE, static_cast<std::uint32_t>(depth), &time);
  depth_.store(Depth::kAwake);
}

void UpkeepSleep::wake() {
  if (depth_.exchange(Depth::kAwake) != Depth::kAwake)
    futex(&depth_, FUTEX_WAKE_PRIVATE, 1, nullptr);
}

// Without a variable that remembers the registration: the child of a fork() at that moment would
// wait for it for ever.
bool process_barrier() {
  constexpr int kBarrier = MEMBARRIER_CMD_PRIVATE_EXPEDITED;
  if (::syscall(SYS_membarrier, kBarrier, 0, 0) == 0) return true;
  if (errno != EPERM) return false;
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
         ::syscall(SYS_membarrier, kBarrier, 0, 0) == 0;
}

}  // namespace tallyfs
