// Connections whose close waits for their peer.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <vector>

#include "core/base/fd.h"

namespace tallyfs {

// A connection with more data on its way than its peer takes, whose close waits for that.
inline Fd lingering_connection(const Fd& listener) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::getsockname(listener.get(), generic, &size), 0);
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(fd.get(), generic, size), 0);
  ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  const std::vector<char> some(65'536);
  while (::send(fd.get(), some.data(), some.size(), 0) > 0) {
  }
  const linger five_seconds{.l_onoff = 1, .l_linger = 5};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_LINGER, &five_seconds, sizeof five_seconds);
  return fd;
}

}  // namespace tallyfs
