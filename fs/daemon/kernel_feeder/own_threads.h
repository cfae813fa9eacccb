// The threads of this process, from /proc: their activity is left out of the kernel's events. In a
// PID namespace of its own they have other numbers in these, which are unknown: none is left out.
// Thread-safe.
#pragma once

#include <sys/types.h>

#include <vector>

namespace tallyfs {

// Whether the kernel's events have the numbers that /proc has.
bool knows_own_threads();
// The threads that exist now, in order; none if they are unknown, or /proc cannot be read.
std::vector<pid_t> own_threads();

}  // namespace tallyfs
