#include "feeders/client/link.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

namespace tally {
namespace {

ErrorCode code_of(int error) {
  if (error == ENOENT || error == ECONNREFUSED || error == ENOTDIR) return ErrorCode::kNotFound;
  if (error == EACCES || error == EPERM) return ErrorCode::kNoAccess;
  return ErrorCode::kInvalid;
}

}  // namespace

Result<void> Link::connect() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.empty() || path_.size() >= sizeof address.sun_path) {
    return Error{ErrorCode::kInvalid, "socket path '" + path_ + "' is empty or too long"};
  }
  path_.copy(address.sun_path, path_.size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  // A bind to the family alone asks the kernel for an abstract address, unix(7), "Autobind".
  Fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd.valid() || ::bind(fd.get(), generic, sizeof address.sun_family) != 0 ||
      ::connect(fd.get(), generic, sizeof address) != 0) {
    return Error{code_of(errno), path_ + ": " + std::strerror(errno)};
  }
  fd_ = std::move(fd);
  return {};
}

bool Link::wait(short events, std::chrono::milliseconds wait_max) const {
  pollfd waited{.fd = fd_.get(), .events = events, .revents = 0};
  return wait_max.count() > 0 && ::poll(&waited, 1, static_cast<int>(wait_max.count())) > 0;
}

Link::Sent Link::send(std::string_view datagram, std::chrono::milliseconds wait_max) {
  const auto once = [&] {
    return ::send(fd_.get(), datagram.data(), datagram.size(), MSG_NOSIGNAL) >= 0;
  };
  const auto full = [] { return errno == EAGAIN || errno == ENOBUFS || errno == EINTR; };
  if (!fd_.valid()) return Sent::kGone;
  if (once()) return Sent::kDone;
  if (full() && wait(POLLOUT, wait_max) && once()) return Sent::kDone;
  if (full()) return Sent::kFull;
  fd_.reset();
  return Sent::kGone;
}

std::optional<std::span<char>> Link::receive(std::chrono::milliseconds wait_max) {
  if (!fd_.valid()) return std::nullopt;
  auto size = ::recv(fd_.get(), answer_.data(), answer_.size(), 0);
  if (size < 0 && wait(POLLIN, wait_max)) {
    size = ::recv(fd_.get(), answer_.data(), answer_.size(), 0);
  }
  if (size < 0) return std::nullopt;
  return std::span<char>(answer_.data(), static_cast<std::size_t>(size));
}

}  // namespace tally
