// Gives up what a process may do, before it reads what a stranger has made: capabilities, all open
// files but some, all system calls but those that read these, have memory, write and end. Its
// memory and its CPU time are bounded. System-call wrappers: errno ends here.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "core/base/result.h"

namespace tallyfs {

struct RenouncedBounds {
  std::size_t memory_bytes;  // beside what the process has already, of its parent
  std::chrono::seconds cpu_time;
};

// Whether all others are closed.
bool close_other_files(std::vector<int> kept_files);
// For the rest of the process, which has one thread. kNoDevice: something is not given up, and the
// process has to end.
Result<void> renounce_rights(std::vector<int> kept_files, const RenouncedBounds& bounds);

}  // namespace tallyfs
