// The copies that copytruncate makes of a log before it cuts it to 0: files that have its name and
// something after it. Copies that are seen while lines wait for the daemon are held open, since
// they may be compressed or removed before their lines are read.
// Bounds: 64 are held, and 1,024 known as read: more copies than positions are kept of may come
// within seconds. Confined to one thread.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "feeders/log/follow/log_file.h"
#include "feeders/log/follow/open_log.h"
#include "feeders/log/follow/positions.h"

namespace tallyfs::logs {

struct LogCopy {
  OpenedLog opened;
  std::string path;
  std::chrono::nanoseconds birth{0};  // 0: the file system does not know it
  bool is_written = false;            // since that time, not born alone
};

class CutCopies {
 public:
  // Opens what came or was written since that time, by CLOCK_REALTIME.
  void hold(const std::string& log, std::chrono::nanoseconds since);
  // All of them but those that were read, those that are held included, the oldest first.
  std::vector<LogCopy> take(const std::string& log, std::chrono::nanoseconds since);
  // The copy is followed from now on.
  void note_read(const LogCopy& copy);
  // Closes those that are held: all logs were looked at, and none of theirs was cut.
  void drop() { held_.clear(); }

 private:
  static constexpr std::size_t kHeldMax = 64;
  static constexpr std::size_t kReadMax = 1'024;

  struct Held {
    std::string log;
    LogCopy copy;
  };
  // The numbers of files that are gone are used again, by files of another birth; a copy that is
  // written over has another begin.
  struct Read {
    FileIdentity identity;
    std::chrono::nanoseconds birth{0};
    Checkpoint begin;
  };
  bool is_known(const LogCopy& copy) const;

  std::vector<Held> held_;
  std::deque<Read> read_;
};

// From where on a copy has what was not counted; its size, if it was made before the last bytes
// were counted. Nothing: it is no copy of that.
std::optional<std::uint64_t> continuation(const OpenedLog& copy, const CountedPart& counted);
// The last one that has all that was counted; else the last one that was made before that. end():
// there is none.
std::vector<LogCopy>::iterator last_copy_of(std::vector<LogCopy>& copies,
                                            const CountedPart& counted);
// Whether the file has the bytes of that checkpoint.
bool has(const OpenedLog& opened, const Checkpoint& checkpoint);
// Whether the log has the bytes of that checkpoint now.
bool has(const LogFile& log, const Checkpoint& checkpoint);
// Whether the log has all that the copy has: the copy was made of what the log has now, or is being
// made. True of an empty one.
bool has_all_of(const LogFile& log, const OpenedLog& copy);
// Whether the copy belongs to a cut that is still to come, or to be seen.
bool is_of_now(const LogFile& log, const OpenedLog& copy);

}  // namespace tallyfs::logs
