#include "feeders/log/follow/open_log.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

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

}  // namespace

Result<OpenedLog> open_log(const std::string& path, Found found) {
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  const std::string name = path.substr(slash == path.npos ? 0 : slash + 1);
  const Fd directory =
      open_in(AT_FDCWD, folder.c_str(), O_PATH | O_DIRECTORY, RESOLVE_NO_MAGICLINKS);
  if (!directory.valid()) return failed(path, errno);
  const bool follows = found == Found::kByName || !is_shared(directory.get());
  const int no_follow = follows ? 0 : O_NOFOLLOW;
  // Before it is opened, since to open a device may do something to it; and again, since it may
  // have been replaced in between.
  struct stat status {};
  const int flags = follows ? 0 : AT_SYMLINK_NOFOLLOW;
  if (::fstatat(directory.get(), name.c_str(), &status, flags) != 0) return failed(path, errno);
  if (S_ISLNK(status.st_mode)) return failed(path, "a symbolic link where others may write");
  if (!S_ISREG(status.st_mode)) return failed(path, "this is no regular file");
  Fd fd = open_in(directory.get(), name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | no_follow,
                  RESOLVE_NO_MAGICLINKS);
  if (!fd.valid()) return failed(path, errno);
  if (::fstat(fd.get(), &status) != 0) return failed(path, errno);
  if (!S_ISREG(status.st_mode)) return failed(path, "this is no regular file");
  return OpenedLog{
      std::move(fd), {status.st_dev, status.st_ino}, static_cast<std::uint64_t>(status.st_size)};
}

}  // namespace tallyfs::logs
