// The directory to mount on, before it is mounted on. Confined to the daemon's start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/result.h"

namespace tallyfs {

enum class Leftover { kReport, kCleanUp };

// Where the unit and the documents mount.
inline constexpr const char* kDefaultMountPoint = "/run/tallyfs/mnt";

// The absolute path of a directory that can be mounted on. kDefaultMountPoint is made if it is
// missing, for all to enter. A mount of a dead daemon is reported with its remedy, or removed.
// kInvalid with a reason for a person.
Result<std::string> prepare_mount_point(const std::string& path, Leftover leftover);

// The same path, of which no file is looked at. kInvalid.
Result<std::string> absolute_mount_point(const std::string& path);
// kInvalid, with the remedy: it has the mount of a daemon that died.
Result<void> check_not_dead(const std::string& path);
// Whether a tallyfs is mounted on exactly this path, served or not.
bool has_live_mount(const std::string& path);

// The kernel's number of the mount on an absolute path, the upper one if there are several. A
// number is not used again while its mount exists.
std::optional<std::uint64_t> topmost_mount(const std::string& path);

// Whether the mount of this number is among those on the path.
bool has_mount(const std::string& path, std::uint64_t mount);

}  // namespace tallyfs
