// tallyfs --reload: asks the keeper of a mount to go on with the program on disk, and waits until
// that serves. Confined to main(), in a process that does nothing else.
#pragma once

#include <chrono>
#include <string>

#include "core/base/result.h"

namespace tallyfs {

// How long the keeper may take.
inline constexpr std::chrono::seconds kReloadMax{30};

// The keeper's arguments are tried with this program before, which says on stderr what is wrong.
// kNotFound: no tallyfs is mounted there, or it has no keeper; kNotPermitted; kInvalid: this
// program refuses, or the server was not replaced in time.
Result<void> reload(const std::string& mount_point);

}  // namespace tallyfs
