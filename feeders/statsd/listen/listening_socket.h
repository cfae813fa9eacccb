// A socket to receive from: made and bound, with a path's file taken over from a process that is
// gone, or handed in by systemd. Removes the file that it made. Confined to one thread.
#pragma once

#include <string>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "feeders/socket_file/socket_lock.h"
#include "feeders/statsd/listen/listen_address.h"

namespace tallyfs::statsd {

class ListeningSocket {
 public:
  struct Options {
    int receive_bytes = 4 << 20;   // asked for, of UDP
    unsigned permissions = 0722;   // of a path: as the Agent's
  };

  // kBusy: another process has the path. kInvalid: the rest, with the reason.
  static Result<ListeningSocket> create(const ListenAddress& address, const Options& options);
  // Takes a bound socket that another process made; of streams, one that listens. kInvalid.
  static Result<ListeningSocket> adopt(int fd, const Options& options);

  ListeningSocket(ListeningSocket&& other) noexcept = default;
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  ~ListeningSocket();

  int fd() const { return fd_.get(); }
  // With the port that the kernel chose for port 0.
  const ListenAddress& address() const { return address_; }
  // What the kernel gives for packets that wait, of UDP.
  int receive_bytes() const;

 private:
  ListeningSocket() = default;
  Result<void> bind(const Options& options);
  Result<void> read_address();
  void ask_for_room(int bytes) const;

  SocketLock lock_;
  Fd fd_;
  ListenAddress address_;
};

}  // namespace tallyfs::statsd
