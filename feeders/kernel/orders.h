// The feeder's end of its conversation with the daemon (core/wire/order.h). Confined to one thread.
#pragma once

#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>

#include "core/wire/order.h"

namespace tallyfs {

class Orders {
 public:
  // fd: inherited, and closed with the program.
  explicit Orders(int fd) : fd_(fd) {}

  int fd() const { return fd_; }
  // Nobody gives any more.
  bool ended() const { return ended_; }
  // Passes over those that are there: a predecessor's, who had the socket before.
  void discard();
  // The next one that is there.
  std::optional<wire::Order> next();
  template <typename Reply>
  void answer(const Reply& reply) {
    const std::string text = wire::print(reply);
    (void)!::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

 private:
  const int fd_;
  bool ended_ = false;
  std::array<char, wire::kOrderBytesMax> text_;
};

}  // namespace tallyfs
