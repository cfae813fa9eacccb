// The feeder's end of its conversation with the daemon (core/wire/order.h). Confined to one thread.
#pragma once

#include <sys/socket.h>

#include <array>
#include <chrono>
#include <optional>
#include <string>

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
  // The order that came last takes longer. Says so to the daemon, at most each kWorkingPeriod.
  void note_working();
  template <typename Reply>
  void answer(const Reply& reply) {
    const std::string text = wire::print(reply);
    (void)!::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

 private:
  static constexpr std::chrono::milliseconds kWorkingPeriod{50};

  const int fd_;
  std::chrono::steady_clock::time_point said_working_;
  bool ended_ = false;
  std::array<char, wire::kOrderBytesMax> text_;
};

}  // namespace tallyfs
