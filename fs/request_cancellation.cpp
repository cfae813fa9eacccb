#include "fs/request_cancellation.h"

#include <csignal>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace tallyfs {
namespace {

constexpr std::uint64_t bit(int signal) { return std::uint64_t{1} << (signal - 1); }
constexpr std::uint64_t kEnding =
    bit(SIGHUP) | bit(SIGINT) | bit(SIGQUIT) | bit(SIGTERM) | bit(SIGKILL);

}  // namespace

bool is_told_to_end(pid_t thread) {
  std::ifstream status("/proc/" + std::to_string(thread) + "/status");
  std::uint64_t waiting = 0, blocked = 0;
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t signals = 0;
    words >> name >> std::hex >> signals;
    if (name == "SigPnd:" || name == "ShdPnd:") waiting |= signals;
    if (name == "SigBlk:") blocked = signals;
  }
  return (waiting & ~blocked & kEnding) != 0;
}

CancellationToken cancellation_of(fuse_req_t request) {
  return CancellationToken([request] {
    return fuse_req_interrupted(request) != 0 && is_told_to_end(fuse_req_ctx(request)->pid);
  });
}

}  // namespace tallyfs
