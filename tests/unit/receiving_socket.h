// A datagram socket at a path, as the daemon has one: what arrives at it.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <span>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/wire/binary.h"
#include "tests/unit/temporary_directory.h"

namespace tallyfs {

inline sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

class ReceivingSocket {
 public:
  ReceivingSocket() {
    const sockaddr_un address = address_of(path_);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }

  const std::string& path() const { return path_; }
  // Calls take(message) for all that has arrived.
  template <typename Take>
  void receive(Take take) {
    for (;;) {
      const auto size = ::recv(fd_.get(), bytes_.data(), wire::kDatagramBytesMax, MSG_DONTWAIT);
      if (size < 0) return;
      auto reader = wire::DatagramReader::open(
          {reinterpret_cast<char*>(bytes_.data()), static_cast<std::size_t>(size)});
      while (auto message = reader.value().next()) take(message->value());
    }
  }

 private:
  TemporaryDirectory directory_;
  std::string path_ = directory_ / "socket";
  Fd fd_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  std::vector<std::uint64_t> bytes_ = std::vector<std::uint64_t>(wire::kDatagramBytesMax / 8);
};

}  // namespace tallyfs
