// A tracefs below the mount of --over-tracefs. Clients look for the first mount of type tracefs,
// and mount one of their own if there is none. So ours lies on top of one.
// Confined to the daemon's start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace tallyfs {

// Mounts tracefs on the path, unless it is there. The kernel's number of the mount if it was made
// here: the caller sees to its removal. kNotPermitted: that takes root. kNotFound: this kernel has
// no tracefs.
Result<std::optional<std::uint64_t>> mount_tracefs_below(const std::string& path);

}  // namespace tallyfs
