#include "fs/daemon/own_threads.h"

#include <algorithm>
#include <filesystem>
#include <string>

namespace tally {
namespace {

// More than the daemon has; the filter that they end up in is not unbounded.
constexpr std::size_t kThreadsMax = 64;

}  // namespace

std::vector<pid_t> own_threads() {
  std::vector<pid_t> threads;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    if (threads.size() < kThreadsMax) threads.push_back(std::stoi(task.path().filename()));
  }
  std::ranges::sort(threads);
  return threads;
}

}  // namespace tally
