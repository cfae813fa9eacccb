#include "feeders/statsd/listen/listening_socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "feeders/socket_file/socket_path.h"

namespace tallyfs::statsd {
namespace {

constexpr int kBacklog = 256;

Error failed(const std::string& what) { return invalid(what + ": " + std::strerror(errno)); }

int type_of(Transport transport) { return is_datagram(transport) ? SOCK_DGRAM : SOCK_STREAM; }

int option_of(int fd, int option) {
  int value = 0;
  socklen_t size = sizeof value;
  ::getsockopt(fd, SOL_SOCKET, option, &value, &size);
  return value;
}

}  // namespace

Result<ListeningSocket> ListeningSocket::create(const ListenAddress& address,
                                                const Options& options) {
  ListeningSocket made;
  made.address_ = address;
  const int family = is_unix(address.transport) ? AF_UNIX : address.address.ss_family;
  made.fd_ = Fd(
      ::socket(family, type_of(address.transport) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.fd_.valid()) return failed("cannot make a socket for " + to_text(address));
  if (auto done = made.bind(options); !done) return done.error();
  if (!is_datagram(address.transport) && ::listen(made.fd(), kBacklog) != 0) {
    return failed("cannot listen on " + to_text(address));
  }
  if (!is_unix(address.transport)) {
    if (auto done = made.read_address(); !done) return done.error();
  }
  return made;
}

Result<void> ListeningSocket::bind(const Options& options) {
  if (is_unix(address_.transport)) {
    auto lock = SocketLock::take(address_.path);
    if (!lock) return lock.error();
    lock_ = std::move(lock.value());
    auto cleared = clear_stale_socket(address_.path, type_of(address_.transport));
    if (!cleared) return cleared;
    return bind_socket_file(fd(), address_.path, options.permissions);
  }
  const int on = 1;
  // A socket on [::] leaves 0.0.0.0 to another socket.
  if (address_.address.ss_family == AF_INET6) {
    ::setsockopt(fd(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  }
  if (is_datagram(address_.transport)) {
    ask_for_room(options.receive_bytes);
  } else {
    ::setsockopt(fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  }
  if (::bind(fd(), reinterpret_cast<const sockaddr*>(&address_.address),
             address_.address_size) != 0) {
    return failed("cannot bind " + to_text(address_));
  }
  return {};
}

// Beyond the system's bound only with CAP_NET_ADMIN.
void ListeningSocket::ask_for_room(int bytes) const {
  if (::setsockopt(fd(), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0) {
    ::setsockopt(fd(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
  }
}

Result<void> ListeningSocket::read_address() {
  address_.address_size = sizeof address_.address;
  if (::getsockname(fd(), reinterpret_cast<sockaddr*>(&address_.address),
                    &address_.address_size) != 0) {
    return failed("cannot tell the address of a socket");
  }
  return {};
}

Result<ListeningSocket> ListeningSocket::adopt(int fd, const Options& options) {
  ListeningSocket made;
  made.fd_ = Fd(fd);
  if (auto done = made.read_address(); !done) return done.error();
  const bool is_stream = option_of(fd, SO_TYPE) == SOCK_STREAM;
  if (is_stream && option_of(fd, SO_ACCEPTCONN) == 0) {
    return invalid("a stream socket that was handed in does not listen");
  }
  const sockaddr_storage& address = made.address_.address;
  if (address.ss_family == AF_UNIX) {
    made.address_.transport = is_stream ? Transport::kUnixStream : Transport::kUnixDatagram;
    made.address_.path = reinterpret_cast<const sockaddr_un&>(address).sun_path;
  } else if (address.ss_family == AF_INET || address.ss_family == AF_INET6) {
    made.address_.transport = is_stream ? Transport::kTcp : Transport::kUdp;
    if (!is_stream && made.receive_bytes() < options.receive_bytes) {
      made.ask_for_room(options.receive_bytes);
    }
  } else {
    return invalid("a socket that was handed in is neither AF_UNIX, AF_INET nor AF_INET6");
  }
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
  ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  return made;
}

// The kernel doubles what is asked for, and tells that; what it adds is for its own bookkeeping.
int ListeningSocket::receive_bytes() const { return option_of(fd(), SO_RCVBUF) / 2; }

// Under the lock, so that no successor's file is removed. An adopted socket has none.
ListeningSocket::~ListeningSocket() {
  if (fd_.valid() && lock_.is_ours()) ::unlink(address_.path.c_str());
}

}  // namespace tallyfs::statsd
