#include "feeders/log/follow/open_log.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
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

// nullopt: it is a regular file.
std::optional<Error> refuse_kind(const std::string& path, mode_t mode) {
  if (S_ISREG(mode)) return std::nullopt;
  return failed(path, S_ISLNK(mode) ? "a symbolic link where others may write" : kind_of(mode));
}

Result<Fd> open_directory(const std::string& path, Found found) {
  const std::string folder = folder_of(path);
  Fd at = found == Found::kByPattern
              ? open_found_directory(folder)
              : open_in(AT_FDCWD, folder.c_str(), O_PATH | O_DIRECTORY, RESOLVE_NO_MAGICLINKS);
  if (at.valid()) return at;
  if (found == Found::kByPattern && (errno == ELOOP || errno == ENOTDIR)) {
    return failed(path, "a symbolic link on the way to it, where others may write");
  }
  return failed(path, errno);
}

}  // namespace

// To open a device may do something to it, so that the kind is looked at before; and again after,
// since the file may have been replaced in between.
Result<OpenedLog> open_log(const std::string& path, Found found) {
  const auto directory = open_directory(path, found);
  if (!directory) return directory.error();
  const int at = directory.value().get();
  const std::string name = path.substr(path.rfind('/') + 1);
  const bool follows = found == Found::kByName || !is_shared(at);
  struct stat status {};
  if (::fstatat(at, name.c_str(), &status, follows ? 0 : AT_SYMLINK_NOFOLLOW) != 0) {
    return failed(path, errno);
  }
  if (const auto refused = refuse_kind(path, status.st_mode)) return *refused;
  const int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | (follows ? 0 : O_NOFOLLOW);
  Fd fd = open_in(at, name.c_str(), flags, RESOLVE_NO_MAGICLINKS);
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0) return failed(path, errno);
  if (const auto refused = refuse_kind(path, status.st_mode)) return *refused;
  return OpenedLog{
      std::move(fd), {status.st_dev, status.st_ino}, static_cast<std::uint64_t>(status.st_size)};
}

}  // namespace tallyfs::logs
