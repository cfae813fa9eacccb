// A socket that StatsD lines arrive at. create() makes and binds it, and replaces the file of a
// path whose process has ended; adopt() gets it from systemd. The destructor removes a file that
// create() made. Confined to one thread.
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
    int receive_bytes = 4 << 20;  // the receive buffer to request, for UDP
    unsigned permissions = 0722;  // of a path's file; the Datadog Agent has the same
  };

  // kBusy: another process has the path. kInvalid: any other failure, with the reason.
  static Result<ListeningSocket> create(const ListenAddress& address, const Options& options);
  // Takes ownership of a bound socket that another process made, and closes it if it is refused. A
  // stream socket must be listening. kInvalid: it is no such socket.
  static Result<ListeningSocket> adopt(int fd, const Options& options);

  ListeningSocket(ListeningSocket&& other) noexcept = default;
  ListeningSocket& operator=(ListeningSocket&&) = delete;
  ~ListeningSocket();

  int fd() const { return fd_.get(); }
  // With the port that the kernel chose for port 0.
  const ListenAddress& address() const { return address_; }
  // Bytes of the receive buffer that the kernel has granted for waiting packets, for UDP.
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
