// Rotated logs that came, and were compressed or removed before a feeder looked, as they do while
// none runs: they are not read, and a person should know how many there are. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace tallyfs::logs {

// A file that was followed, and is not found any more.
struct LostLog {
  std::string path;  // or the pattern by which it was followed
  std::uint64_t offset = 0;
};

// One text for each that was missed: a compressed log that was written after the time, or a lost
// one. A lost one is the oldest compressed log of its name, and is none if that has nothing beyond
// the offset.
std::vector<std::string> missed_logs(const std::vector<std::string>& followed,
                                     const std::vector<LostLog>& lost,
                                     std::chrono::nanoseconds since);

}  // namespace tallyfs::logs
