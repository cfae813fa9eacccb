// Whether a descriptor is still the socket that we opened: a program may close what it did not
// open, and get the number for something else. Signal-safe.
#pragma once

#include <sys/socket.h>

#include <cstdint>

namespace tallyfs {

// Programs expect the numbers of what they open to be small.
inline constexpr int kLowestFd = 10;

// The kernel's name for the socket; 0: it is none.
inline std::uint64_t cookie_of(int fd) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return ::getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

}  // namespace tallyfs
