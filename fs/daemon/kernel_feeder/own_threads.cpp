#include "fs/daemon/kernel_feeder/own_threads.h"

#include <dirent.h>

#include <algorithm>
#include <cstdint>
#include <memory>

#include "core/base/text.h"
#include "feeders/tracefs/tracefs.h"

namespace tallyfs {

bool knows_own_threads() { return sees_kernels_pids(); }

std::vector<pid_t> own_threads() {
  if (!knows_own_threads()) return {};
  std::vector<pid_t> threads;
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir("/proc/self/task"), &::closedir);
  while (const dirent* task = tasks ? ::readdir(tasks.get()) : nullptr) {
    const auto number = parse_unsigned(task->d_name);
    if (number && *number <= INT32_MAX) threads.push_back(static_cast<pid_t>(*number));
  }
  std::ranges::sort(threads);
  return threads;
}

}  // namespace tallyfs
