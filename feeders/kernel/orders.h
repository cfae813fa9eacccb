// The feeder's end of its conversation with the daemon (core/wire/order.h). Confined to one thread.
#pragma once

#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>
#include <variant>

#include "core/wire/order.h"

namespace tallyfs {

class Orders {
 public:
  // fd: inherited, and closed with the program.
  explicit Orders(int fd) : fd_(fd) {}

  int fd() const { return fd_; }
  // No more orders will come.
  bool ended() const { return ended_; }
  // Discards the pending orders: those for a predecessor on this socket.
  void discard();
  // The next one that is there.
  std::optional<wire::Order> next();
  void answer(const wire::Reply& reply) {
    const std::string text = std::visit([](const auto& each) { return wire::print(each); }, reply);
    (void)!::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

 private:
  const int fd_;
  bool ended_ = false;
  std::array<char, wire::kOrderBytesMax> text_;
};

}  // namespace tallyfs
