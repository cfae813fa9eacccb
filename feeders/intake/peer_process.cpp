#include "feeders/intake/peer_process.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

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
  return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == sender.uid &&
         peer.pid == sender.pid;
}

Fd pidfd_of_peer(int channel) { return Fd(option_of(channel, kPeerPidfd)); }

bool has_hung_up(int channel) { return polls(channel, POLLRDHUP); }

bool is_readable(int fd) { return polls(fd, POLLIN); }

bool may_be_one_process(int pidfd, int other) {
  struct stat one {}, two{};
  return ::fstat(pidfd, &one) == 0 && ::fstat(other, &two) == 0 && one.st_dev == two.st_dev &&
         one.st_ino == two.st_ino;
}

}  // namespace tallyfs
