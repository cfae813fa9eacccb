#include "fs/daemon/mount_point.h"

#include <fcntl.h>
#include <libmount/libmount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "fs/daemon/absolute_path.h"

namespace tallyfs {
namespace {

Error failure(const std::string& reason) { return {ErrorCode::kInvalid, reason}; }

bool unmount_as_user(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execlp("fusermount3", "fusermount3", "-u", "-z", "--", path.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) &&
         WEXITSTATUS(status) == 0;
}

Result<void> clean_up(const std::string& path, Leftover leftover) {
  if (leftover == Leftover::kReport) {
    return failure(path +
                   " still has the mount of a daemon that died. Take it away with\n"
                   "  fusermount3 -u -z " +
                   path + "\nor start with -o auto_unmount, which does that.");
  }
  if (::umount2(path.c_str(), MNT_DETACH) == 0 || unmount_as_user(path)) return {};
  return failure("cannot take away the stale mount on " + path + ": " + std::strerror(errno));
}

struct FreeMounts {
  void operator()(libmnt_table* table) const { ::mnt_unref_table(table); }
  void operator()(libmnt_iter* each) const { ::mnt_free_iter(each); }
};
using Mounts = std::unique_ptr<libmnt_table, FreeMounts>;

Mounts read_mounts() { return Mounts(::mnt_new_table_from_file("/proc/self/mountinfo")); }

// The mounts on exactly this path, in no particular order. They last as long as the table.
std::vector<libmnt_fs*> mounts_on(const std::string& path, const Mounts& mounts) {
  std::vector<libmnt_fs*> found;
  if (!mounts) return found;
  const std::unique_ptr<libmnt_iter, FreeMounts> each(::mnt_new_iter(MNT_ITER_FORWARD));
  libmnt_fs* mount = nullptr;
  while (::mnt_table_next_fs(mounts.get(), each.get(), &mount) == 0) {
    if (::mnt_fs_streq_target(mount, path.c_str()) != 0) found.push_back(mount);
  }
  return found;
}

// Asks the file system itself: the kernel's cache of a mount outlives its daemon.
bool is_dead_mount(const std::string& path) {
  struct statx status {};
  return ::statx(AT_FDCWD, path.c_str(), AT_STATX_FORCE_SYNC, STATX_MODE, &status) != 0 &&
         errno == ENOTCONN;
}

}  // namespace

Result<void> check_not_dead(const std::string& path) {
  if (!is_dead_mount(path)) return {};
  return clean_up(path, Leftover::kReport);
}

// A second mount would hide the first one, which would go on unseen.
bool has_live_mount(const std::string& path) {
  const Mounts mounts = read_mounts();
  return std::ranges::any_of(mounts_on(path, mounts), [](libmnt_fs* mount) {
    const char* const type = ::mnt_fs_get_fstype(mount);
    return type && std::string_view(type) == "fuse.tallyfs";
  });
}

// realpath(3) fails on a dead mount, so only the path of its parent is resolved.
Result<std::string> absolute_mount_point(const std::string& path) {
  std::error_code error;
  const std::filesystem::path clean = absolute_path(path, error);
  const auto above = error ? clean : std::filesystem::weakly_canonical(clean.parent_path(), error);
  if (error) return failure("cannot mount on " + path + ": " + error.message());
  return std::string(above / clean.filename());
}

// Of two mounts on one path, the upper has the lower as its parent.
std::optional<std::uint64_t> topmost_mount(const std::string& path) {
  const Mounts mounts = read_mounts();
  const auto found = mounts_on(path, mounts);
  for (libmnt_fs* const mount : found) {
    const int id = ::mnt_fs_get_id(mount);
    const auto is_above = [&](libmnt_fs* other) { return ::mnt_fs_get_parent_id(other) == id; };
    if (std::ranges::none_of(found, is_above)) return static_cast<std::uint64_t>(id);
  }
  return std::nullopt;
}

bool has_mount(const std::string& path, std::uint64_t mount) {
  const Mounts mounts = read_mounts();
  return std::ranges::any_of(mounts_on(path, mounts), [mount](libmnt_fs* each) {
    return static_cast<std::uint64_t>(::mnt_fs_get_id(each)) == mount;
  });
}

// /run is empty after a boot. Where it may not be made, stat(2) says why.
void make_for_all(const std::filesystem::path& path) {
  std::error_code error;
  for (const auto& each : {path.parent_path(), path}) {
    if (!std::filesystem::create_directory(each, error)) continue;
    std::filesystem::permissions(each, std::filesystem::perms(0755), error);
  }
}

Result<std::string> prepare_mount_point(const std::string& given, Leftover leftover) {
  struct stat status {};
  const auto found = absolute_mount_point(given);
  if (!found) return found.error();
  const std::string& path = found.value();
  if (is_dead_mount(path)) {
    if (auto done = clean_up(path, leftover); !done) return done.error();
  }
  if (path == kDefaultMountPoint) make_for_all(path);
  if (::stat(path.c_str(), &status) != 0) {
    const std::string advice =
        errno == ENOENT ? "mkdir -p " + given : "name a directory that you may enter";
    return failure("cannot mount on " + given + ": " + std::strerror(errno) + "; " + advice);
  }
  if (has_live_mount(path)) {
    return failure(path + " has a tallyfs mounted on it already; fusermount3 -u " + path +
                   " ends that one");
  }
  if (!S_ISDIR(status.st_mode)) {
    return failure("cannot mount on " + given + ": not a directory; name an empty one");
  }
  return path;
}

}  // namespace tallyfs
