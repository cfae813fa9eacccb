#include "feeders/client/link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "feeders/client/socket_identity.h"

namespace tallyfs {
namespace {

// Room for 512 datagrams of 8 KiB and what the kernel adds to each. Without privileges it comes to
// what net.core.wmem_max allows.
constexpr int kSendBufferBytes = 8 << 20;

ErrorCode code_of(int error) {
  if (error == ENOENT || error == ECONNREFUSED || error == ENOTDIR) return ErrorCode::kNotFound;
  if (error == EACCES || error == EPERM) return ErrorCode::kNoAccess;
  return ErrorCode::kInvalid;
}

void enlarge_send_buffer(int fd) {
  if (::setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &kSendBufferBytes, sizeof kSendBufferBytes) !=
      0) {
    ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kSendBufferBytes, sizeof kSendBufferBytes);
  }
}

// The first one that is attached. Where there is room for one descriptor there is, padded, room for
// another, and a descriptor that arrives has to be closed.
void take_descriptors(msghdr& header, Fd& attached) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      Fd each(fd);
      if (!attached.valid()) attached = std::move(each);
    }
  }
}

bool is_full(int error) {
  return error == EAGAIN || error == ENOBUFS || error == EINTR || error == ENOMEM;
}

// False: see errno.
bool send_with(int to, std::string_view datagram, const Fd& attached) {
  // sendmsg() does not change it.
  iovec part{const_cast<char*>(datagram.data()), datagram.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  const int fd = attached.get();
  std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  return ::sendmsg(to, &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

}  // namespace

Result<void> Link::connect() {
  auto done = connect_to(first_);
  if (done || fallback_.empty() || done.error().code != ErrorCode::kNotFound) return done;
  const auto second = connect_to(fallback_);
  if (second) return {};
  return Error{second.error().code, done.error().reason + "; " + second.error().reason};
}

Result<void> Link::connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return Error{ErrorCode::kInvalid, "socket path '" + path + "' is empty or too long"};
  }
  path.copy(address.sun_path, path.size());
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  const Fd made(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  Fd fd(made.valid() ? ::fcntl(made.get(), F_DUPFD_CLOEXEC, kLowestFd) : -1);
  // A bind to the family alone asks the kernel for an abstract address, unix(7), "Autobind".
  if (!fd.valid() || ::bind(fd.get(), generic, sizeof address.sun_family) != 0 ||
      ::connect(fd.get(), generic, sizeof address) != 0) {
    return Error{code_of(errno), path + ": " + std::strerror(errno)};
  }
  path_ = path;
  channel_.reset();
  enlarge_send_buffer(fd.get());
  const std::uint64_t cookie = cookie_of(fd.get());
  install(std::move(fd), cookie);
  return {};
}

// In the place of the last one, unless the program has opened something else there.
void Link::install(Fd fd, std::uint64_t cookie) {
  const int old = fd_.load();
  const bool replaces = old >= 0 && is_ours(old);
  cookie_ = cookie;
  if (replaces && ::dup3(fd.get(), old, O_CLOEXEC) == old) {
    fd.reset();
  } else {
    fd_ = fd.release();
  }
  state_ = State::kReady;
}

void Link::disconnect() {
  const int old = fd_.exchange(-1);
  state_ = State::kGone;
  if (old >= 0 && is_ours(old)) ::close(old);
  channel_.reset();
}

bool Link::is_ours(int fd) const { return cookie_of(fd) == cookie_.load(); }

Link::Sent Link::was_sent() {
  if (full()) state_ = State::kReady;
  return Sent::kDone;
}

Link::Sent Link::send(std::string_view datagram) {
  if (!connected()) return Sent::kGone;
  const int fd = fd_.load(std::memory_order_relaxed);
  if (is_ours(fd)) {
    if (::send(fd, datagram.data(), datagram.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) {
      return was_sent();
    }
    if (is_full(errno)) {
      state_ = State::kFull;
      return Sent::kFull;
    }
  }
  state_ = State::kGone;
  return Sent::kGone;
}

// A failure other than a full queue is caused by the descriptor, or occurs in send() as well.
Link::Sent Link::request(std::string_view datagram) {
  channel_.forget_loss();
  if (!connected() || !channel_.is_wanted()) return send(datagram);
  const Fd theirs = channel_.make();
  if (theirs.valid() && is_ours(fd_)) {
    if (send_with(fd_, datagram, theirs)) return was_sent();
    if (is_full(errno)) {
      channel_.reset();
      state_ = State::kFull;
      return Sent::kFull;
    }
    channel_.refuse();
  }
  return send(datagram);
}

std::array<pollfd, 2> Link::polled(short events) const {
  return {pollfd{.fd = fd(), .events = events, .revents = 0},
          pollfd{.fd = connected() ? channel_.fd() : -1, .events = POLLIN, .revents = 0}};
}

void Link::wait_for_room(std::chrono::milliseconds wait_max) const {
  pollfd waited{.fd = fd(), .events = POLLOUT, .revents = 0};
  if (waited.fd >= 0) ::poll(&waited, 1, static_cast<int>(wait_max.count()));
}

std::optional<Link::Received> Link::receive() {
  if (!connected()) return std::nullopt;
  if (auto received = receive_from_channel()) return received;
  const int fd = fd_.load();
  if (!is_ours(fd)) return std::nullopt;
  Received received;
  if (receive_from(fd, received) < 0) return std::nullopt;
  return received;
}

std::optional<Link::Received> Link::receive_from_channel() {
  const int fd = channel_.checked_fd();
  if (fd < 0) return std::nullopt;
  Received received;
  const auto size = receive_from(fd, received);
  if (size > 0) {
    channel_.record_answer();
    return received;
  }
  if (size == 0 || (errno != EAGAIN && errno != EINTR)) channel_.end();
  return std::nullopt;
}

ssize_t Link::receive_from(int fd, Received& received) {
  iovec bytes{response_.data(), response_.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control;
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const auto size = ::recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0) return size;
  received.datagram = std::span<char>(response_.data(), static_cast<std::size_t>(size));
  take_descriptors(header, received.attached);
  return size;
}

}  // namespace tallyfs
