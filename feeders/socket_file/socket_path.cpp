#include "feeders/socket_file/socket_path.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/fd.h"

namespace tallyfs {
namespace {

Error system_failure(const std::string& what) {
  return invalid(what + ": " + std::strerror(errno));
}

const sockaddr* generic(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

}  // namespace

Result<sockaddr_un> socket_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return invalid("socket path '" + path + "' must have 1 to " +
                   std::to_string(sizeof address.sun_path - 1) + " bytes");
  }
  path.copy(address.sun_path, path.size());
  return address;
}

Result<void> clear_stale_socket(const std::string& path, int type) {
  const auto address = socket_address(path);
  if (!address) return address.error();
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return {};
  if (!S_ISSOCK(status.st_mode)) return invalid(path + " exists and is no socket");
  const Fd probe(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe.valid()) return system_failure("cannot make a socket");
  const int connected = ::connect(probe.get(), generic(address.value()), sizeof(sockaddr_un));
  // EAGAIN: its queue is full. EPROTOTYPE: it is of another type, and in use.
  if (connected == 0 || errno == EAGAIN || errno == EPROTOTYPE) {
    return Error{ErrorCode::kBusy, "socket " + path + " is held by a running process; stop it or " +
                                       "choose another path"};
  }
  if (errno != ECONNREFUSED) return system_failure("cannot tell whether " + path + " is in use");
  if (::unlink(path.c_str()) != 0) return system_failure("cannot remove the stale " + path);
  return {};
}

Result<void> bind_socket_file(int fd, const std::string& path, unsigned permissions) {
  const auto address = socket_address(path);
  if (!address) return address.error();
  // bind() gives the file the mode of the socket, less the umask: never more than is wanted.
  if (::fchmod(fd, permissions) != 0) return system_failure("cannot set the mode of the socket");
  if (::bind(fd, generic(address.value()), sizeof(sockaddr_un)) != 0) {
    return system_failure("cannot bind " + path);
  }
  struct stat status {};
  const bool has_mode =
      ::lstat(path.c_str(), &status) == 0 && (status.st_mode & 07777) == permissions;
  if (!has_mode && ::chmod(path.c_str(), permissions) != 0) {
    return system_failure("cannot set the mode of " + path);
  }
  return {};
}

}  // namespace tallyfs
