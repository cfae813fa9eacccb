// The threads of this process, as /proc has them: what they do is left out of the events of the
// kernel. Thread-safe.
#pragma once

#include <sys/types.h>

#include <vector>

namespace tallyfs {

// The threads that exist now, in order; none if /proc cannot be read.
std::vector<pid_t> own_threads();

}  // namespace tallyfs
