// The channels over which feeders are answered that have sent one: an end of a socketpair, attached
// to a request (core/wire/FORMAT.md). An answer over it arrives in whatever network namespace the
// feeder is, while its address is one of its own namespace.
//
// A channel is of one socket of one process, as the kernel says: of its uid, process id and
// address. It ends when the feeder closes its end, or sends another one. What is accepted: exactly
// one descriptor, AF_UNIX, SOCK_SEQPACKET, whose peer has the uid of the datagram. All else is
// closed (descriptor_closer.h). The kernel reads these three from fields of the socket, so that the
// look at a foreign descriptor waits for nothing, as its close may.
//
// Thread-safe; start() belongs to the loop's thread. Limits: kChannelsMax, and kOfUidMax of a uid
// that is neither root's nor the daemon's. A tenth is for those two (core/base/quota_reserve.h).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "core/base/fd.h"
#include "core/base/mutex.h"
#include "core/base/quota_reserve.h"
#include "feeders/intake/descriptor_closer.h"
#include "feeders/intake/event_loop.h"
#include "feeders/intake/origin.h"
#include "feeders/intake/unix_sockets.h"

namespace tallyfs {

class AnswerChannels {
 public:
  static constexpr std::size_t kChannelsMax = 1024;
  static constexpr std::size_t kOfUidMax = 64;

  class Channel {
   public:
    Channel(Fd fd, DescriptorCloser& closer) : fd_(std::move(fd)), closer_(closer) {}
    ~Channel() { closer_.close(std::move(fd_)); }
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    int fd() const { return fd_.get(); }

   private:
    Fd fd_;
    DescriptorCloser& closer_;
  };
  // Shared by the table and by an answer that is being sent, of which the last one closes it.
  using Shared = std::shared_ptr<const Channel>;

  // The loop outlives this. owner: the daemon's uid.
  AnswerChannels(EventLoop& loop, uid_t owner);

  // Notices the ends of channels from now on.
  void start();

  // Whether a batch of datagrams, each with a descriptor, may be received.
  bool may_receive(std::size_t datagrams) const;
  // Takes what came with the datagram. False: it is no channel, or one too many.
  bool offer(const Origin& from, std::span<char> datagram, Fd attached) EXCLUDES(mutex_);
  // Nothing: its address is all that is known.
  Shared find(const Origin& to) const EXCLUDES(mutex_);
  std::size_t count() const { return count_.load(std::memory_order_relaxed); }

  // What a channel is known by. Longer than the name of any socket.
  static std::string key_of(const Origin& origin);
  // Visits all by their keys.
  void each(const UnixSockets::Visit& visit) const EXCLUDES(mutex_);

 private:
  struct Entry {
    std::uint64_t id = 0;
    uid_t uid = 0;
    Shared channel;
  };

  bool has_room(uid_t uid) const REQUIRES(mutex_);
  // Notices its end. False: the kernel has no memory for that.
  bool watch(const Entry& entry) const;
  void unwatch(const Entry& entry) const;
  void take_ends() EXCLUDES(mutex_);
  void end(std::uint64_t id) EXCLUDES(mutex_);

  const QuotaReserve reserve_;
  DescriptorCloser closer_;
  boost::asio::posix::stream_descriptor ends_;  // an epoll(7) of all channels
  int ends_fd_ = -1;
  std::atomic<std::size_t> count_{0};
  mutable Mutex mutex_{LockRank::kAnswerChannels};
  std::uint64_t last_id_ GUARDED_BY(mutex_) = 0;
  boost::unordered_flat_map<std::string, Entry> by_key_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs
