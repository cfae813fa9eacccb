// The directory to mount on, before it is mounted on. Confined to the daemon's start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace tallyfs {

enum class Leftover { kReport, kCleanUp };

// The absolute path of a directory that can be mounted on. A mount whose daemon died is reported
// with what to do about it, or taken away. kInvalid with a reason for a person.
Result<std::string> prepare_mount_point(const std::string& path, Leftover leftover);

// The kernel's number of what is mounted on an absolute path, the upper one if there are several;
// a number is not used again while it is.
std::optional<std::uint64_t> topmost_mount(const std::string& path);

}  // namespace tallyfs
