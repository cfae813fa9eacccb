#include "fs/daemon/mount_point.h"

#include <fcntl.h>
#include <mntent.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string_view>

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

// A second mount would hide the first, which would go on unseen.
bool has_live_mount(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> mounts(::setmntent("/proc/self/mounts", "re"),
                                                     &::endmntent);
  if (!mounts) return false;
  while (const mntent* entry = ::getmntent(mounts.get())) {
    if (path == entry->mnt_dir && std::string_view(entry->mnt_type) == "fuse.tallyfs") return true;
  }
  return false;
}

// Asks the file system itself: what the kernel has cached of a mount outlives its daemon.
bool is_dead_mount(const std::string& path) {
  struct statx status {};
  return ::statx(AT_FDCWD, path.c_str(), AT_STATX_FORCE_SYNC, STATX_MODE, &status) != 0 &&
         errno == ENOTCONN;
}

// realpath(3) fails on a dead mount, so only what stands above it is resolved.
Result<std::string> absolute(const std::string& path) {
  std::error_code error;
  std::filesystem::path clean = std::filesystem::absolute(path, error).lexically_normal();
  if (!clean.has_filename()) clean = clean.parent_path();
  const auto above = error ? clean : std::filesystem::weakly_canonical(clean.parent_path(), error);
  if (error) return failure("cannot mount on " + path + ": " + error.message());
  return std::string(above / clean.filename());
}

// Blanks, tabs, newlines and backslashes stand there as \ooo.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 3)), nullptr, 8));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

// Each line: number, parent, device, root, where it is mounted, and more (proc(5)). In whatever
// order they stand, of two on one path the upper has the lower as its parent.
std::optional<std::uint64_t> topmost_mount(const std::string& path) {
  std::map<std::uint64_t, std::uint64_t> upper_by_parent;
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::uint64_t number = 0, parent = 0;
    std::string device, root, place;
    fields >> number >> parent >> device >> root >> place;
    if (unescaped(place) == path) upper_by_parent[parent] = number;
  }
  for (const auto& [parent, number] : upper_by_parent) {
    if (!upper_by_parent.contains(number)) return number;
  }
  return std::nullopt;
}

Result<std::string> prepare_mount_point(const std::string& given, Leftover leftover) {
  struct stat status {};
  const auto found = absolute(given);
  if (!found) return found.error();
  const std::string& path = found.value();
  if (is_dead_mount(path)) {
    if (auto done = clean_up(path, leftover); !done) return done.error();
  }
  if (::stat(path.c_str(), &status) != 0) {
    return failure("cannot mount on " + given + ": " + std::strerror(errno));
  }
  if (has_live_mount(path)) {
    return failure(path + " has a tallyfs mounted on it already; fusermount3 -u " + path +
                   " ends that one");
  }
  if (!S_ISDIR(status.st_mode)) return failure("cannot mount on " + given + ": not a directory");
  return path;
}

}  // namespace tallyfs
