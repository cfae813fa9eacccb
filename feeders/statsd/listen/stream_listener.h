// Serves a listening socket and its connections: TCP with lines, Unix sockets with frames or lines.
// A connection is read 64 KiB at a time, then the others have their turn.
//
// Bounds: 256 connections. A further one takes the place of the one that has been idle longest, of
// the user with most (connection_shares.h). What connections hold of incomplete lines and frames
// comes to 16 MiB for all listeners together; the connection that goes beyond is closed. Confined
// to the loop's thread.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <vector>

#include "feeders/statsd/listen/connection_shares.h"
#include "feeders/statsd/listen/listening_socket.h"
#include "feeders/statsd/listen/packet_sink.h"
#include "feeders/statsd/listen/stream_framing.h"

namespace tallyfs::statsd {

// The memory that all stream listeners share.
struct StreamMemory {
  static constexpr std::size_t kHeldBytesMax = 16 << 20;
  std::size_t held_bytes = 0;
  std::vector<char> read = std::vector<char>(64 << 10);  // where bytes are read to
};

class StreamListener {
 public:
  static constexpr std::size_t kConnectionsMax = 256;

  // All must outlive it. Starts at once.
  StreamListener(boost::asio::io_context& loop, ListeningSocket socket, StreamMemory& memory,
                 const AllowList& allow, PacketSink& sink);
  ~StreamListener();
  StreamListener(const StreamListener&) = delete;
  StreamListener& operator=(const StreamListener&) = delete;

  // Reads what waits in all connections, at the feeder's end, and closes them. A line that is not
  // complete is not taken.
  void drain();

 private:
  struct Connection;
  using Place = std::list<Connection>::iterator;
  enum class After { kOpen, kNothingRead, kClosed };

  void wait();
  void accept_all();
  void accept(int fd, const sockaddr_storage& address);
  // Closes a connection that is idle, so that there is room for one of that user.
  void make_room(const ConnectionOwner& newcomer);
  Place choose(const ConnectionOwner& newcomer);
  void wait_for(Place connection);
  After read(Place connection);
  After hold(Connection& connection, StreamFraming::State state);
  void close(Place connection);
  Sender sender_of(const sockaddr_storage& address) const;
  Sender sender_of(const Connection& connection) const;

  boost::asio::io_context& loop_;
  ListeningSocket socket_;
  boost::asio::posix::stream_descriptor descriptor_;
  boost::asio::steady_timer pause_;  // after an accept(2) that failed
  StreamMemory& memory_;
  const AllowList& allow_;
  PacketSink& sink_;
  std::list<Connection> connections_;  // idle longest first
  // Indexed by number, since a wait may end in the same turn of the loop in which its connection is
  // closed for a new one.
  std::map<std::uint64_t, Place> by_number_;
  std::uint64_t next_number_ = 0;
};

}  // namespace tallyfs::statsd
