#include "feeders/statsd/listen/stream_listener.h"

#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "core/base/fd.h"

namespace tallyfs::statsd {
namespace {

using boost::asio::posix::stream_descriptor;

// Until there may be a descriptor again.
constexpr std::chrono::milliseconds kAcceptPause{100};
// At the end: more than the sockets' buffers hold.
constexpr int kReadsAtEnd = 256;

}  // namespace

struct StreamListener::Connection {
  Connection(boost::asio::io_context& loop, int fd, const sockaddr_storage& from,
             StreamFraming::Kind kind)
      : descriptor(loop, fd), address(from), framing(kind) {}

  stream_descriptor descriptor;
  sockaddr_storage address;
  StreamFraming framing;
  std::size_t held_bytes = 0;  // as counted in StreamMemory
};

StreamListener::StreamListener(boost::asio::io_context& loop, ListeningSocket socket,
                               StreamMemory& memory, const AllowList& allow, PacketSink& sink)
    : loop_(loop),
      socket_(std::move(socket)),
      descriptor_(loop, socket_.fd()),
      pause_(loop),
      memory_(memory),
      allow_(allow),
      sink_(sink) {
  wait();
}

// The descriptor is the socket's.
StreamListener::~StreamListener() { descriptor_.release(); }

void StreamListener::wait() {
  descriptor_.async_wait(stream_descriptor::wait_read,
                         [this](const boost::system::error_code& error) {
                           if (!error) accept_all();
                         });
}

void StreamListener::accept_all() {
  for (std::size_t count = 0; count < kConnectionsMax; ++count) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    const int fd = ::accept4(socket_.fd(), reinterpret_cast<sockaddr*>(&address), &size,
                             SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
      accept(fd, address);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR && errno != ECONNABORTED) {
      pause_.expires_after(kAcceptPause);
      pause_.async_wait([this](const boost::system::error_code& error) {
        if (!error) wait();
      });
      return;
    }
  }
  wait();
}

void StreamListener::accept(int accepted, const sockaddr_storage& address) {
  Fd fd(accepted);
  const bool is_tcp = !is_unix(socket_.address().transport);
  if (is_tcp && !allow_.allows(address)) return sink_.lose(Loss::kDenied, sender_of(address));
  if (connections_.size() == kConnectionsMax) {
    return sink_.lose(Loss::kConnectionClosed, sender_of(address));
  }
  const auto kind = is_tcp ? StreamFraming::Kind::kLines : StreamFraming::Kind::kDetected;
  connections_.emplace_back(loop_, fd.release(), address, kind);
  wait_for(std::prev(connections_.end()));
}

void StreamListener::wait_for(Place connection) {
  connection->descriptor.async_wait(
      stream_descriptor::wait_read, [this, connection](const boost::system::error_code& error) {
        if (error) return;
        if (read(*connection) == After::kClosed) return close(connection);
        wait_for(connection);
      });
}

StreamListener::After StreamListener::read(Connection& connection) {
  const Sender sender = sender_of(connection.address);
  const auto take = [&](std::string_view packet) { sink_.take(packet, sender); };
  const ssize_t count = ::recv(connection.descriptor.native_handle(), memory_.read.data(),
                               memory_.read.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return After::kNothingRead;
  sink_.begin_batch();
  const bool is_end = count <= 0;
  const std::string_view bytes(memory_.read.data(), is_end ? 0 : static_cast<std::size_t>(count));
  const auto state =
      is_end ? connection.framing.finish(take) : connection.framing.take(bytes, take);
  sink_.end_batch();
  return hold(connection, state) == After::kClosed || is_end ? After::kClosed : After::kOpen;
}

StreamListener::After StreamListener::hold(Connection& connection, StreamFraming::State state) {
  memory_.held_bytes -= connection.held_bytes;
  connection.held_bytes = connection.framing.held_bytes();
  memory_.held_bytes += connection.held_bytes;
  const bool has_room = memory_.held_bytes <= StreamMemory::kHeldBytesMax;
  if (state == StreamFraming::State::kOpen && has_room) return After::kOpen;
  sink_.lose(state == StreamFraming::State::kOpen ? Loss::kConnectionClosed : Loss::kTruncated,
             sender_of(connection.address));
  return After::kClosed;
}

void StreamListener::close(Place connection) {
  memory_.held_bytes -= connection->held_bytes;
  connections_.erase(connection);
}

void StreamListener::drain() {
  accept_all();
  for (auto each = connections_.begin(); each != connections_.end();) {
    const Place connection = each++;
    int reads = 0;
    while (reads < kReadsAtEnd && read(*connection) == After::kOpen) ++reads;
    close(connection);
  }
}

Sender StreamListener::sender_of(const sockaddr_storage& address) const {
  return {socket_.address(), is_unix(socket_.address().transport) ? nullptr : &address};
}

}  // namespace tallyfs::statsd
