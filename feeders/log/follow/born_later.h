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
// A file that is made from now on is born then, or later. The clock of births is coarse:
// CLOCK_REALTIME may be ahead of it by some milliseconds.
std::chrono::nanoseconds birth_clock();
// Whether a file may have been born after that time of CLOCK_REALTIME.
bool is_born_after(std::chrono::nanoseconds birth, std::chrono::nanoseconds time);
// Whether it may have been born before that time of the clock of births.
bool is_born_before(std::chrono::nanoseconds birth, std::chrono::nanoseconds time);

// When the file was written or cut last, or got another name. 0: it cannot be known.
std::chrono::nanoseconds changed_at(int fd);
// nullopt: the file does not exist.
std::optional<std::chrono::nanoseconds> written_at(const std::string& path);

// The time since its last byte was written, or since its rename. 0: unknown.
std::chrono::nanoseconds still_time(int fd);

// The file in that folder, whatever its name.
std::optional<std::string> find_by_inode(const std::string& folder, const FileIdentity& identity);

// Files that have the name of a followed file with something after it, as rotations make them, and
// were born or written after that time. Compressed ones are left out.
struct Rotated {
  std::string path;
  std::chrono::nanoseconds birth{0};  // 0: the file system does not know it
  // False for an old log that was unpacked, or copied with its times.
  bool is_written = false;
};
std::vector<Rotated> written_since(const std::string& followed, std::chrono::nanoseconds time);

}  // namespace tallyfs::logs
