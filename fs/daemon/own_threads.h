// The daemon's own threads, whose doings nobody wants to see among the kernel's events.
#pragma once

#include <sys/types.h>

#include <vector>

namespace tally {

// Those that there are now, in order; at most so many as a filter takes.
std::vector<pid_t> own_threads();

}  // namespace tally
