#include "feeders/log/follow/open_log.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "feeders/log/follow/log_paths.h"

namespace tallyfs::logs {
namespace {

Error failed(const std::string& path, const char* what, ErrorCode code = ErrorCode::kNoAccess) {
  return {code, path + ": " + what};
}
Error failed(const std::string& path, int error) {
  const bool is_missing = error == ENOENT || error == ENOTDIR;
  return failed(path, std::strerror(error),
                is_missing ? ErrorCode::kNotFound : ErrorCode::kNoAccess);
}

// A kernel before 5.6 has no openat2().
Fd open_in(int directory, const char* path, int flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = resolve;
  const long fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
  if (fd >= 0 || errno != ENOSYS) return Fd(static_cast<int>(fd));
  return Fd(::openat(directory, path, flags | O_CLOEXEC));
}

// Others than root and this user may put files into it.
bool is_shared(int directory) {
  struct stat status {};
  if (::fstat(directory, &status) != 0) return true;
  const bool is_ours = status.st_uid == 0 || status.st_uid == ::geteuid();
  return !is_ours || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

// One step of a path. Where others may write, a symbolic link is not followed.
Fd open_step(const Fd& directory, const std::string& name, int flags) {
  const int no_follow = is_shared(directory.get()) ? O_NOFOLLOW : 0;
  return open_in(directory.get(), name.c_str(), flags | no_follow, RESOLVE_NO_MAGICLINKS);
}

// The directory of a log that a pattern has found: none of the links on the way to it is one that a
// stranger may have put there.
Fd open_found_directory(const std::string& folder) {
  Fd at = open_in(AT_FDCWD, folder.starts_with('/') ? "/" : ".", O_PATH | O_DIRECTORY, 0);
  for (std::size_t begin = 0; at.valid() && begin < folder.size();) {
    const std::size_t end = std::min(folder.find('/', begin), folder.size());
    const std::string name = folder.substr(begin, end - begin);
    if (!name.empty()) at = open_step(at, name, O_PATH | O_DIRECTORY);
    begin = end + 1;
  }
  return at;
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "this is a directory, no log";
  if (S_ISFIFO(mode)) return "this is no regular file but a pipe, which - <FILE reads";
  return "this is no regular file";
}

}  // namespace

Result<OpenedLog> open_log(const std::string& path, Found found) {
  const std::string folder = folder_of(path);
  const std::string name = path.substr(path.rfind('/') + 1);
  const Fd directory = found == Found::kByPattern
                           ? open_found_directory(folder)
                           : open_in(AT_FDCWD, folder.c_str(), O_PATH | O_DIRECTORY,
                                     RESOLVE_NO_MAGICLINKS);
  const bool is_link = !directory.valid() && (errno == ELOOP || errno == ENOTDIR);
  if (is_link && found == Found::kByPattern) {
    return failed(path, "a symbolic link on the way to it, where others may write");
  }
  if (!directory.valid()) return failed(path, errno);
  const bool follows = found == Found::kByName || !is_shared(directory.get());
  const int no_follow = follows ? 0 : O_NOFOLLOW;
  // Before it is opened, since to open a device may do something to it; and again, since it may
  // have been replaced in between.
  struct stat status {};
  const int flags = follows ? 0 : AT_SYMLINK_NOFOLLOW;
  if (::fstatat(directory.get(), name.c_str(), &status, flags) != 0) return failed(path, errno);
  if (S_ISLNK(status.st_mode)) return failed(path, "a symbolic link where others may write");
  if (!S_ISREG(status.st_mode)) return failed(path, kind_of(status.st_mode));
  Fd fd = open_in(directory.get(), name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | no_follow,
                  RESOLVE_NO_MAGICLINKS);
  if (!fd.valid()) return failed(path, errno);
  if (::fstat(fd.get(), &status) != 0) return failed(path, errno);
  if (!S_ISREG(status.st_mode)) return failed(path, kind_of(status.st_mode));
  return OpenedLog{
      std::move(fd), {status.st_dev, status.st_ino}, static_cast<std::uint64_t>(status.st_size)};
}

}  // namespace tallyfs::logs
