// Serves a socket of datagrams: when it is readable, up to 1,024 of them, then the other sockets
// have their turn. Confined to the loop's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>

#include "feeders/statsd/listen/datagram_receiver.h"
#include "feeders/statsd/listen/listening_socket.h"
#include "feeders/statsd/listen/packet_sink.h"

namespace tallyfs::statsd {

class DatagramListener {
 public:
  // All must outlive it. Starts at once.
  DatagramListener(boost::asio::io_context& loop, ListeningSocket socket,
                   DatagramReceiver& receiver, const AllowList& allow, PacketSink& sink);
  ~DatagramListener();
  DatagramListener(const DatagramListener&) = delete;
  DatagramListener& operator=(const DatagramListener&) = delete;

  // Receives what waits, at the feeder's end.
  void drain();
  // Datagrams for which the socket has had no room since the last call.
  std::uint32_t take_kernel_drops();

 private:
  void wait();
  void receive(int batches_max);

  ListeningSocket socket_;
  boost::asio::posix::stream_descriptor descriptor_;
  DatagramReceiver& receiver_;
  const AllowList& allow_;
  PacketSink& sink_;
  std::uint32_t kernel_drops_ = 0;
};

}  // namespace tallyfs::statsd
