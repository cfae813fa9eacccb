#include "fs/daemon/tracefs_below.h"

#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>

#include "fs/daemon/mount_point.h"

namespace tallyfs {
namespace {

bool is_tracefs(const std::string& path) {
  struct statfs status {};
  return ::statfs(path.c_str(), &status) == 0 && status.f_type == TRACEFS_MAGIC;
}

Error cannot_mount(const std::string& path) {
  const int error = errno;
  if (error == ENODEV) return {ErrorCode::kNotFound, "this kernel has no tracefs"};
  const std::string hint = error == EPERM ? " (not root?)" : "";
  return {ErrorCode::kNotPermitted,
          "cannot mount tracefs on " + path + ": " + std::strerror(error) + hint};
}

}  // namespace

Result<std::optional<std::uint64_t>> mount_tracefs_below(const std::string& path) {
  if (is_tracefs(path)) return std::optional<std::uint64_t>();
  constexpr unsigned long kFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
  if (::mount("tracefs", path.c_str(), "tracefs", kFlags, nullptr) != 0) return cannot_mount(path);
  return topmost_mount(path);
}

}  // namespace tallyfs
