// The threads of this process, for who does not want to see what they do. Thread-safe.
#pragma once

#include <sys/types.h>

#include <vector>

namespace tallyfs {

// Those that there are now, in order. None, where /proc cannot be read.
std::vector<pid_t> own_threads();

}  // namespace tallyfs
