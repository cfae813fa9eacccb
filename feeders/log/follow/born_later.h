// Files that came, or got other names, while nothing reported it: the feeder did not run, or the
// kernel dropped events. Any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "feeders/log/follow/open_log.h"

namespace tallyfs::logs {

// The time is of CLOCK_REALTIME. Nothing: the file system does not know it.
std::optional<std::chrono::nanoseconds> birth_of(int fd);
// The clock of births is coarse: whether a file may have been born after that time.
bool is_born_after(std::chrono::nanoseconds birth, std::chrono::nanoseconds time);

// The file in that folder, whatever its name.
std::optional<std::string> find_by_inode(const std::string& folder, const FileIdentity& identity);

// Files that have the name of a followed file with something after it, as rotations make them, and
// were born or written after that time. Compressed ones are left out.
struct Rotated {
  std::string path;
  std::chrono::nanoseconds birth{0};  // 0: the file system does not know it
};
std::vector<Rotated> written_since(const std::string& followed, std::chrono::nanoseconds time);

}  // namespace tallyfs::logs
