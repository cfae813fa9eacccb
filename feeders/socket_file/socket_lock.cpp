#include "feeders/socket_file/socket_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace tallyfs {
namespace {

// False when the file was removed, and perhaps made anew, between its opening and its locking.
bool is_still_there(const Fd& fd, const std::string& path) {
  struct stat held {};
  struct stat found {};
  return ::fstat(fd.get(), &held) == 0 && ::lstat(path.c_str(), &found) == 0 &&
         held.st_dev == found.st_dev && held.st_ino == found.st_ino;
}

}  // namespace

Result<SocketLock> SocketLock::take(const std::string& socket_path) {
  const std::string path = socket_path + ".lock";
  for (;;) {
    Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!fd.valid()) {
      return Error{ErrorCode::kInvalid, "cannot open " + path + ": " + std::strerror(errno)};
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0 || status.st_uid != ::geteuid()) {
      return Error{ErrorCode::kInvalid,
                   path + " belongs to another uid; remove it or choose another path"};
    }
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      return Error{ErrorCode::kBusy, "socket " + socket_path + " is held by a running process; " +
                                         "stop it or choose another path"};
    }
    if (is_still_there(fd, path)) return SocketLock(path, std::move(fd));
  }
}

bool SocketLock::is_ours() const { return fd_.valid() && is_still_there(fd_, path_); }

void SocketLock::release() {
  if (is_ours()) ::unlink(path_.c_str());
  fd_.reset();
}

}  // namespace tallyfs
