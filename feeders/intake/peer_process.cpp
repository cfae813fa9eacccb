#include "feeders/intake/peer_process.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "core/base/descriptor_numbers.h"

namespace tallyfs {
namespace {

constexpr int kPeerPidfd = 77;  // SO_PEERPIDFD of asm-generic/socket.h

int option_of(int socket, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 ? value : -1;
}

bool polls(int fd, short events) {
  pollfd polled{.fd = fd, .events = events, .revents = 0};
  return ::poll(&polled, 1, 0) != 0;
}

}  // namespace

bool is_channel_of(int fd, const Origin& sender) {
  if (option_of(fd, SO_DOMAIN) != AF_UNIX || option_of(fd, SO_TYPE) != SOCK_SEQPACKET) return false;
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == sender.pid &&
         (sender.pid != 0 || peer.uid == sender.uid);
}

Fd pidfd_of_peer(int channel) { return opened_unseen(option_of(channel, kPeerPidfd)); }

bool has_hung_up(int channel) { return polls(channel, POLLRDHUP); }

bool is_readable(int fd) { return polls(fd, POLLIN); }

// Pidfds that look alike share one inode with all descriptors that have no file, as an eventfd.
std::uint64_t identity_of(int pidfd) {
  static const dev_t without_files = [] {
    const Fd anonymous(::eventfd(0, EFD_CLOEXEC));
    struct stat status {};
    ::fstat(anonymous.get(), &status);
    return status.st_dev;
  }();
  struct stat status {};
  if (::fstat(pidfd, &status) != 0 || status.st_dev == without_files) return 0;
  return status.st_ino;
}

bool may_be_one_process(int pidfd, int other) { return identity_of(pidfd) == identity_of(other); }

}  // namespace tallyfs
