#include "feeders/intake/feed_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "feeders/intake/queue_length.h"
#include "feeders/socket_file/socket_path.h"

namespace tallyfs {
namespace {

Error failure(const std::string& what, ErrorCode code = ErrorCode::kInvalid) {
  return {code, what};
}

Error system_failure(const std::string& what) {
  return failure(what + ": " + std::strerror(errno));
}

Result<Fd> new_socket() {
  Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid()) return system_failure("cannot make a socket");
  return fd;
}

// Before the bind: a datagram that was queued earlier would arrive without credentials. And with
// room for responses, which count until they are read.
Result<void> prepare(const Fd& fd) {
  const int responses_bytes = FeedSocket::kResponsesBytes;
  int bytes = 0;
  socklen_t size = sizeof bytes;
  // The kernel gives twice what is asked for, and tells that. A socket that was passed may have
  // enough, by rights that this process lacks.
  const bool has_room = ::getsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &bytes, &size) == 0 &&
                        bytes >= 2 * responses_bytes;
  if (!has_room &&
      ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUFFORCE, &responses_bytes, sizeof(int)) != 0) {
    ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDBUF, &responses_bytes, sizeof(int));
  }
  const int on = 1;
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) {
    return system_failure("cannot ask for the senders' credentials");
  }
  return {};
}

std::optional<std::pair<dev_t, ino_t>> inode_of(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return std::pair(status.st_dev, status.st_ino);
}

}  // namespace

Result<FeedSocket> FeedSocket::bind(const Options& options) {
  FeedSocket made;
  made.path_ = std::filesystem::absolute(options.path).lexically_normal();
  if (auto valid = socket_address(made.path_); !valid) return valid.error();
  if (auto done = made.make_directory(); !done) return done.error();
  auto lock = SocketLock::take(made.path_);
  if (!lock) return lock.error();
  made.lock_ = std::move(lock.value());
  if (auto done = clear_stale_socket(made.path_, SOCK_DGRAM); !done) return done.error();
  {
    // The socket copies the length when it is made.
    const QueueLength queue(options.queue_length);
    made.queue_length_ = queue.granted();
    auto fd = new_socket();
    if (!fd) return fd.error();
    made.fd_ = std::move(fd.value());
  }
  if (auto done = prepare(made.fd_); !done) return done.error();
  auto bound = bind_socket_file(made.fd_.get(), made.path_, options.permissions);
  if (!bound) return bound.error();
  made.bound_ = inode_of(made.path_);
  return made;
}

Result<void> FeedSocket::make_directory() {
  const std::string directory = std::filesystem::path(path_).parent_path();
  if (::mkdir(directory.c_str(), 0755) == 0) {
    made_directory_ = directory;
  } else if (errno != EEXIST) {
    return system_failure("cannot make the directory " + directory);
  }
  return {};
}

Result<FeedSocket> FeedSocket::adopt(int fd) {
  FeedSocket made;
  made.fd_ = Fd(fd);
  int type = 0;
  socklen_t length = sizeof type;
  sockaddr_un address{};
  socklen_t address_length = sizeof address;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_DGRAM ||
      ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &address_length) != 0 ||
      address.sun_family != AF_UNIX) {
    return failure("the socket handed in is not AF_UNIX, SOCK_DGRAM (ListenDatagram=)");
  }
  if (auto done = prepare(made.fd_); !done) return done.error();
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return made;
}

std::string FeedSocket::place() const {
  std::string path = path_;
  if (path.empty()) {
    sockaddr_un address{};
    socklen_t size = sizeof address;
    if (::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
    path.assign(address.sun_path, ::strnlen(address.sun_path, sizeof address.sun_path));
    if (path.empty()) return {};
  }
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return error ? std::string() : absolute.string();
}

FeedSocket::Transferred FeedSocket::save_for_successor() const {
  return {.fd = fd_.get(),
          .lock = lock_.fd(),
          .path = path_,
          .bound = bound_,
          .made_directory = !made_directory_.empty(),
          .queue_length = queue_length_};
}

FeedSocket FeedSocket::take_over(const Transferred& from) {
  FeedSocket made;
  made.lock_ = SocketLock::adopt(from.path, Fd(from.lock));
  made.fd_ = Fd(from.fd);
  made.path_ = from.path;
  made.bound_ = from.bound;
  if (from.made_directory) made.made_directory_ = std::filesystem::path(from.path).parent_path();
  made.queue_length_ = from.queue_length;
  return made;
}

void FeedSocket::leave_files() {
  bound_.reset();
  made_directory_.clear();
  lock_.leave();
}

bool FeedSocket::refuse_senders() {
  return !path_.empty() && ::shutdown(fd_.get(), SHUT_RD) == 0;
}

void FeedSocket::remove_files() {
  // Under the lock, so that no successor of ours can come between; another process may have put
  // another in its place. Without it, another process of ours has removed all.
  if (lock_.is_ours()) {
    if (bound_ && inode_of(path_) == bound_) ::unlink(path_.c_str());
    lock_.release();
    if (!made_directory_.empty()) ::rmdir(made_directory_.c_str());
  }
  leave_files();
}

std::string default_socket_path() {
  if (::geteuid() == 0) return "/run/tallyfs/socket";
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  return runtime && *runtime ? std::string(runtime) + "/tallyfs/socket" : std::string();
}

}  // namespace tallyfs
