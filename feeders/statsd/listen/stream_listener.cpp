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

// The user that connected, for a Unix socket.
ConnectionOwner owner_of(int fd, Transport transport) {
  ucred peer{};
  socklen_t size = sizeof peer;
  const bool is_known =
      is_unix(transport) && ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return is_known ? ConnectionOwner(peer.uid) : std::nullopt;
}

}  // namespace

struct StreamListener::Connection {
  Connection(stream_descriptor accepted, std::uint64_t its_number, const sockaddr_storage& from,
             const ConnectionOwner& user, StreamFraming::Kind kind)
      : descriptor(std::move(accepted)),
        number(its_number),
        address(from),
        owner(user),
        framing(kind) {}

  stream_descriptor descriptor;
  std::uint64_t number;
  sockaddr_storage address;
  ConnectionOwner owner;
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
  const ConnectionOwner owner = owner_of(fd.get(), socket_.address().transport);
  if (connections_.size() == kConnectionsMax) make_room(owner);
  const auto kind = is_tcp ? StreamFraming::Kind::kLines : StreamFraming::Kind::kDetected;
  const std::uint64_t number = next_number_++;
  connections_.emplace_back(stream_descriptor(loop_, fd.release()), number, address, owner, kind);
  const Place connection = std::prev(connections_.end());
  by_number_.emplace(number, connection);
  wait_for(connection);
}

// One with bytes that wait is not idle: they are read, and another one is chosen. Where all have
// some, the last one chosen goes.
void StreamListener::make_room(const ConnectionOwner& newcomer) {
  Place chosen = choose(newcomer);
  for (std::size_t looks = connections_.size(); looks > 1; --looks) {
    const After after = read(chosen);
    if (after == After::kClosed) return close(chosen);
    if (after == After::kNothingRead) break;
    chosen = choose(newcomer);
  }
  sink_.lose(Loss::kConnectionClosed, sender_of(*chosen));
  close(chosen);
}

StreamListener::Place StreamListener::choose(const ConnectionOwner& newcomer) {
  std::vector<ConnectionOwner> owners;
  for (const Connection& each : connections_) owners.push_back(each.owner);
  const auto index = choose_giving_way(owners, newcomer);
  return std::next(connections_.begin(), static_cast<std::ptrdiff_t>(index));
}

void StreamListener::wait_for(Place connection) {
  connection->descriptor.async_wait(
      stream_descriptor::wait_read,
      [this, number = connection->number](const boost::system::error_code& error) {
        const auto found = by_number_.find(number);
        if (error || found == by_number_.end()) return;
        if (read(found->second) == After::kClosed) return close(found->second);
        wait_for(found->second);
      });
}

StreamListener::After StreamListener::read(Place place) {
  Connection& connection = *place;
  const auto take = [&](std::string_view packet) { sink_.take(packet, sender_of(connection)); };
  const ssize_t count = ::recv(connection.descriptor.native_handle(), memory_.read.data(),
                               memory_.read.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return After::kNothingRead;
  connections_.splice(connections_.end(), connections_, place);
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
             sender_of(connection));
  return After::kClosed;
}

void StreamListener::close(Place connection) {
  memory_.held_bytes -= connection->held_bytes;
  by_number_.erase(connection->number);
  connections_.erase(connection);
}

void StreamListener::drain() {
  accept_all();
  while (!connections_.empty()) {
    const Place connection = connections_.begin();
    int reads = 0;
    while (reads < kReadsAtEnd && read(connection) == After::kOpen) ++reads;
    close(connection);
  }
}

Sender StreamListener::sender_of(const sockaddr_storage& address) const {
  return {socket_.address(), is_unix(socket_.address().transport) ? nullptr : &address};
}

Sender StreamListener::sender_of(const Connection& connection) const {
  Sender sender = sender_of(connection.address);
  sender.has_lengths = connection.framing.has_lengths();
  return sender;
}

}  // namespace tallyfs::statsd
