// The feeder's end of the daemon's socket: connected to its path, and bound to an address that
// the kernel chose, so that the daemon can answer. The kernel lets nobody but the peer of a
// connected socket send to it, so that whatever arrives here is the daemon's.
//
// Confined to one thread. At most kAnswerBytesMax of a datagram are taken in.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tally {

class Link {
 public:
  // The daemon sends answers off when they have grown to 8 KiB.
  static constexpr std::size_t kAnswerBytesMax = 16 * 1024;

  enum class Sent {
    kDone,
    kFull,  // the daemon's queue had no room for as long as we waited
    kGone,  // the daemon is; the link is closed
  };

  explicit Link(std::string path) : path_(std::move(path)) {}

  bool connected() const { return fd_.valid(); }
  // kNotFound: no socket, or nobody who serves it. kNoAccess: its mode forbids it. kInvalid:
  // anything else, a path that is too long included.
  Result<void> connect();
  Sent send(std::string_view datagram, std::chrono::milliseconds wait_max);
  // The next datagram that is there, 8-byte aligned, valid until the next call; waits for one.
  std::optional<std::span<char>> receive(std::chrono::milliseconds wait_max);

  const std::string& path() const { return path_; }

 private:
  bool wait(short events, std::chrono::milliseconds wait_max) const;

  std::string path_;
  Fd fd_;
  alignas(8) std::array<char, kAnswerBytesMax> answer_;
};

}  // namespace tally
