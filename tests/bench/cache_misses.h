// How often a process waited for memory, by the counters of the processor. Virtual machines often
// have none. Confined to one thread.
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <optional>

#include "core/base/fd.h"

namespace tallyfs::bench {

// Counts those of the process's first thread, from its construction on.
class CacheMisses {
 public:
  explicit CacheMisses(pid_t process) : fd_(open(process)) {}

  // Nothing: the machine does not tell.
  std::optional<double> count() const {
    std::uint64_t counted = 0;
    if (!fd_.valid() || ::read(fd_.get(), &counted, sizeof counted) != sizeof counted) return {};
    return static_cast<double>(counted);
  }

 private:
  static int open(pid_t process) {
    perf_event_attr wanted{};
    wanted.size = sizeof wanted;
    wanted.type = PERF_TYPE_HARDWARE;
    wanted.config = PERF_COUNT_HW_CACHE_MISSES;
    return static_cast<int>(
        ::syscall(SYS_perf_event_open, &wanted, process, -1, -1, PERF_FLAG_FD_CLOEXEC));
  }

  const Fd fd_;
};

}  // namespace tallyfs::bench
