// Takes datagrams off sockets with recvmmsg(2), 64 at a time, into 4 MiB that all sockets share.
// Never blocks. Confined to one thread.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "feeders/statsd/listen/listen_address.h"
#include "feeders/statsd/listen/packet_sink.h"

namespace tallyfs::statsd {

inline constexpr std::size_t kPacketBytesMax = 65'536;

class DatagramReceiver {
 public:
  static constexpr std::size_t kBatch = 64;

  DatagramReceiver();

  // Gives at most kBatch datagrams to the sink; true if there may be more. UDP senders that `allow`
  // does not name are denied.
  bool receive(int fd, const ListenAddress& listener, const AllowList& allow, PacketSink& sink);

 private:
  void take(std::size_t at, const ListenAddress& listener, const AllowList& allow,
            PacketSink& sink);

  std::unique_ptr<char[]> bytes_;
  std::array<sockaddr_storage, kBatch> senders_{};
  std::array<iovec, kBatch> vectors_{};
  std::array<mmsghdr, kBatch> headers_{};
};

// Datagrams for which the socket has had no room: the counter of SO_RXQ_OVFL, which is asked for
// here, so that drops before a silence are seen, too.
std::uint32_t count_kernel_drops(int fd);

}  // namespace tallyfs::statsd
