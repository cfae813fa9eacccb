#include "tools/ctl/send_line.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "core/base/fd.h"

namespace tallyfs {

Result<void> send_line(const std::string& socket, const std::string& line) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path) return invalid(socket + ": too long for a socket");
  std::memcpy(address.sun_path, socket.data(), socket.size());
  const Fd from(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const std::string text = line + "\n";
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  if (::sendto(from.get(), text.data(), text.size(), MSG_NOSIGNAL, to, sizeof address) >= 0) {
    return {};
  }
  const bool is_gone = errno == ENOENT || errno == ECONNREFUSED;
  return Error{is_gone ? ErrorCode::kNotFound : ErrorCode::kInvalid,
               socket + ": " + std::strerror(errno)};
}

}  // namespace tallyfs
