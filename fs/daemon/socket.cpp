#include "fs/daemon/socket.h"

#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/fd.h"
#include "feeders/intake/queue_length.h"
#include "program/log.h"

namespace tallyfs {
namespace {

// The cookie of its network namespace; nothing: the kernel does not tell.
std::optional<std::uint64_t> network_of(int fd) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  if (::getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &size) != 0) return std::nullopt;
  return cookie;
}

// Of sd_listen_fds_with_names().
struct FreeNames {
  char** names;
  ~FreeNames() {
    for (char** each = names; each && *each; ++each) std::free(*each);
    std::free(names);
  }
};

// A service may have a network namespace of its own (PrivateNetwork=), with settings of its own.
bool is_of_our_network(int fd) {
  const Fd ours(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return network_of(fd) == network_of(ours.get());
}

}  // namespace

Result<PassedSockets> find_passed_sockets() {
  char** names = nullptr;
  const int count = ::sd_listen_fds_with_names(1, &names);
  const FreeNames freed{names};
  PassedSockets passed;
  int others = count < 0 ? 1 : 0;
  for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + count; ++fd) {
    const std::string_view name = names[fd - SD_LISTEN_FDS_START];
    if (is_stored_name(name)) {
      passed.stored.push_back({std::string(name), Fd(fd)});
      continue;
    }
    int domain = 0;
    socklen_t size = sizeof domain;
    ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
    std::optional<int>& place = domain == AF_NETLINK ? passed.sock_diag : passed.feed;
    if (place) ++others;
    place = fd;
  }
  if (others == 0) return passed;
  return Error{ErrorCode::kInvalid,
               "systemd passed " + std::to_string(count) +
                   " sockets; one ListenDatagram= is wanted, and one ListenNetlink= at most"};
}

Result<FeedSocket> open_socket(const DaemonOptions& options, const PassedSockets& passed) {
  if (passed.feed) return FeedSocket::adopt(*passed.feed);
  if (options.socket_path.empty()) {
    return Error{ErrorCode::kInvalid,
                 "the socket has no place: XDG_RUNTIME_DIR is not set; use --socket"};
  }
  return FeedSocket::bind({.path = options.socket_path,
                           .permissions = options.socket_permissions,
                           .queue_length = options.queue_length});
}

void report_queue(const FeedSocket& socket, const DaemonOptions& options) {
  if (socket.queue_length() || QueueLength::current() >= options.queue_length) return;
  if (!is_of_our_network(socket.fd())) return;
  log_warning(
      "the socket's queue holds as many datagrams as net.unix.max_dgram_qlen said when it was made "
      "(" +
      std::to_string(QueueLength::current()) + " now), not " +
      std::to_string(options.queue_length) +
      ": feeders will wait or lose samples in bursts if that is less");
}

}  // namespace tallyfs
