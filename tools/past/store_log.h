// The log of a store, past.sqlite-wal, and the readers because of which it grows: SQLite cannot
// tidy it while one is in a transaction, and no reader can be sent away. Any thread may call these.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tallyfs::past {

// From this size on the writer pauses.
inline constexpr std::uint64_t kLogBytesMax = std::uint64_t{64} << 20;

std::string log_of(const std::string& directory);
// 0: there is none.
std::uint64_t log_bytes(const std::string& directory);
struct LogHolder {
  int process = 0;
  // What of past.sqlite-shm it locks.
  std::uint64_t byte = 0;
  // The newest frame of the log that it reads. A reader that begins again reads all that was
  // committed until then.
  std::uint64_t frame = 0;
  bool is_behind = false;  // more was committed since it began

  bool operator==(const LogHolder&) const = default;
};
// The readers that are in a transaction of the store now, as far as this process can see them. The
// writer, which holds the log in its own transaction, is none. Call it while this process has no
// store open: it opens and closes past.sqlite-shm, and with that a process loses its locks.
std::vector<LogHolder> log_holders(const std::string& directory);
// log_holders() by the text of /proc/locks, the inode of past.sqlite-shm, and its first bytes.
std::vector<LogHolder> log_holders_of(std::string_view locks, std::uint64_t inode,
                                      std::string_view index);

}  // namespace tallyfs::past
