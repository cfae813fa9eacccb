// The feeder's end of the daemon's socket: connected to its path, and bound to an address that
// the kernel chose, so that the daemon can respond. The kernel lets only the peer of a connected
// socket send to it, so that all that arrives here is the daemon's. With the first request goes a
// channel (answer_channel.h), over which daemons answer that take it.
//
// send() may be called by any thread at any time, the rest is confined to the Client's
// lock. The descriptor keeps its number from one connection to the next, so that a thread that is
// about to send can at worst reach the next daemon, which knows by the epoch that it was not meant.
// A program that closes descriptors which it did not open, as daemons do at their start, takes ours
// away: every send() makes sure that the descriptor is still our socket, and nothing of ours ever
// ends up in a file or a connection of the program.
//
// Nothing here blocks but wait_for_room(). At most kResponseBytesMax of a datagram are taken in.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "feeders/client/answer_channel.h"

namespace tallyfs {

class Link {
 public:
  // The daemon sends responses off when they have grown to 8 KiB.
  static constexpr std::size_t kResponseBytesMax = 16 * 1024;

  enum class Sent {
    kDone,
    kFull,  // the daemon's queue has no room
    kGone,  // the daemon is; nothing will be sent before the next connect()
  };

  // fallback: the path to try if no daemon serves the first; empty: none.
  explicit Link(std::string path, std::string fallback = {})
      : first_(std::move(path)), fallback_(std::move(fallback)), path_(first_) {}
  ~Link() { disconnect(); }

  // To the daemon that is there now; an earlier connection is gone. kNotFound: no socket, or no
  // daemon serves it. kNoAccess: its mode forbids it. kInvalid: anything else, a path that is too
  // long included.
  Result<void> connect();
  void disconnect();
  bool connected() const { return state_.load(std::memory_order_relaxed) != State::kGone; }

  // Signal-safe.
  Sent send(std::string_view datagram);
  // A request, which a channel goes with if one is wanted.
  Sent request(std::string_view datagram);
  // The daemon has not answered.
  void renew_channel() { channel_.renew(); }
  // The daemon that took the channel has ended: another one does not know us before a request.
  bool has_lost_channel() const { return channel_.is_lost(); }
  // The last send() found no room.
  bool full() const { return state_.load(std::memory_order_relaxed) == State::kFull; }
  // Waits until the daemon's queue has room, or is gone. Signal-safe.
  void wait_for_room(std::chrono::milliseconds wait_max) const;

  struct Received {
    std::span<char> datagram;  // 8-byte aligned, good until the next receive()
    Fd attached;               // if one was
  };
  // The next datagram that is there.
  std::optional<Received> receive();

  // To poll for responses, and for `events` of the socket.
  std::array<pollfd, 2> polled(short events) const;
  // The socket; -1 if not connected.
  int fd() const { return connected() ? fd_.load(std::memory_order_relaxed) : -1; }
  // The path of the last connection.
  const std::string& path() const { return path_; }

 private:
  enum class State : std::uint8_t { kGone, kReady, kFull };

  Result<void> connect_to(const std::string& path);
  bool is_ours(int fd) const;
  Sent was_sent();  // there is room
  std::optional<Received> receive_from_channel();
  // Returns what recvmsg() returns.
  ssize_t receive_from(int fd, Received& received);
  void install(Fd fd, std::uint64_t cookie);

  const std::string first_;
  const std::string fallback_;
  std::string path_;
  std::atomic<State> state_{State::kGone};
  std::atomic<int> fd_{-1};
  std::atomic<std::uint64_t> cookie_{0};  // the kernel's name for our socket
  AnswerChannel channel_;
  alignas(8) std::array<char, kResponseBytesMax> response_;
};

}  // namespace tallyfs
