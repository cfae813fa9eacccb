// The threads of this process, from /proc: their activity is left out of the kernel's events.
// Thread-safe.
#pragma once

#include <sys/types.h>

#include <vector>

namespace tallyfs {

// The threads that exist now, in order; none if /proc cannot be read.
std::vector<pid_t> own_threads();

}  // namespace tallyfs
