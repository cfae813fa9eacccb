// Opens a log to read it, and refuses what is none: a FIFO, a device, a directory. Files that a
// pattern found in a directory that others may write are opened only if they are no symbolic link:
// such a link could show the feeder's own rights to a stranger. Any thread.
#pragma once

#include <string>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "feeders/log/follow/positions.h"

namespace tallyfs::logs {

enum class Found { kByName, kByPattern };

struct OpenedLog {
  Fd fd;
  FileIdentity identity;
  std::uint64_t size = 0;
};
// kNotFound: it is not there (yet). The reason begins with the path.
Result<OpenedLog> open_log(const std::string& path, Found found);

}  // namespace tallyfs::logs
