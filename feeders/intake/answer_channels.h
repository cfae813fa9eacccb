// The channels over which feeders are answered that have sent one: an end of a socketpair, attached
// to a request (core/wire/FORMAT.md). An answer over it arrives in whatever network namespace the
// feeder is, while its address is one of its own namespace.
//
// A channel is of one socket of one process, as the kernel says: of its uid, process id and
// address. It ends when the feeder closes its end, or sends another one. A process has one: that of
// another socket of it is refused as long as the first is open. What is accepted: exactly one
// descriptor, AF_UNIX, SOCK_SEQPACKET, whose peer is the sender (peer_process.h). All else is
// closed (descriptor_closer.h). The kernel reads these from fields of the socket, so that the look
// at a foreign descriptor waits for nothing, as its close may.
//
// Unseen processes (core/branch/command.h) are known by their channels. Each has a number from its
// first channel to its end, which its pidfd shows. Where the kernel gives no pidfd of a peer, the
// end of the channel is that of the process. The next server of the mount goes on with the numbers,
// but not with the channels: feeders send others. Without pidfds they have kAbsenceMax for that.
//
// Thread-safe; start() and load() belong to the loop's thread. Limits: kChannelsMax, and kOfUidMax
// of a uid that is neither root's nor the daemon's, with unseen processes that have no channel now.
// A tenth is for those two (core/base/quota_reserve.h).
#pragma once

#include <sys/types.h>

#include <atomic>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/fd.h"
#include "core/base/mutex.h"
#include "core/base/quota_reserve.h"
#include "core/branch/transferred_part.h"
#include "feeders/intake/descriptor_closer.h"
#include "feeders/intake/event_loop.h"
#include "feeders/intake/origin.h"
#include "feeders/intake/unix_sockets.h"

namespace tallyfs {

class AnswerChannels {
 public:
  static constexpr std::size_t kChannelsMax = 1024;
  static constexpr std::size_t kOfUidMax = 64;
  // A feeder that lives sends a channel with its next upkeep after it has seen the new server. This
  // is chosen, not measured: it bears a feeder that gets no CPU or is stopped for a while. It only
  // delays the end of interfaces whose feeders ended in between.
  static constexpr std::chrono::seconds kAbsenceMax{60};

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

  // kNone: as on kernels that give none of a peer.
  enum class PeerPidfds { kUsed, kNone };
  // The loop outlives this. owner: the daemon's uid.
  AnswerChannels(EventLoop& loop, uid_t owner, PeerPidfds pidfds = PeerPidfds::kUsed);

  // Notices the ends of channels from now on, and of processes that are absent for so long.
  void start(std::chrono::nanoseconds absence_max = kAbsenceMax) EXCLUDES(mutex_);

  // From now on the next server is told of unseen processes, whenever this one ends. part: that
  // which saves them.
  void keep_with(PartKeeper& keeper, TransferredPart& part) {
    keeper_ = &keeper;
    part_ = &part;
  }

  // Whether a batch of datagrams, each with a descriptor, may be received.
  bool may_receive(std::size_t datagrams) const;
  // Takes what came with the datagram. False: it is no channel, or one too many.
  bool offer(const Origin& from, std::span<char> datagram, Fd attached) EXCLUDES(mutex_);
  // Returns nullptr if nothing but its address is known.
  Shared find(const Origin& to) const EXCLUDES(mutex_);
  std::size_t count() const { return count_.load(std::memory_order_relaxed); }

  // The number of an unseen process; 0: it has sent no channel.
  pid_t number_of(const Origin& unseen) const EXCLUDES(mutex_);
  // Returns a descriptor that becomes readable at the end of the process: with a channel, of the
  // one that has sent it. Not valid: see errno; ESRCH, there is no such process any more.
  Fd open_process(pid_t process) const EXCLUDES(mutex_);

  // The unseen processes, for the next server. load() fails the reader; before start().
  void save(ByteWriter& out, TransferredFds& descriptors) const EXCLUDES(mutex_);
  void load(ByteReader& in, TransferredFds& descriptors) EXCLUDES(mutex_);

  // Returns the key of a channel, which is longer than the name of any socket.
  static std::string key_of(const Origin& origin);
  // Visits all by their keys.
  void each(const UnixSockets::Visit& visit) const EXCLUDES(mutex_);

 private:
  // The end of an unseen process.
  struct Unseen {
    Fd end;  // readable then: its pidfd, or an eventfd
    bool is_pidfd = false;
    std::uint64_t identity = 0;  // of the pidfd
  };
  struct Entry {
    std::uint64_t id = 0;  // of this channel of this process, see id_of()
    uid_t uid = 0;
    pid_t process = 0;         // its number, if it is unseen
    Shared channel = nullptr;  // nullptr: it has ended, and its process has not
    std::optional<Unseen> unseen{};

    int watched() const { return channel ? channel->fd() : unseen->end.get(); }
  };
  using Entries = boost::unordered_flat_map<std::string, Entry>;

  bool take(const Origin& from, Fd attached) EXCLUDES(mutex_);
  bool has_room(uid_t uid) const REQUIRES(mutex_);
  // The end of its process is going to be closed.
  void note_closed(const Entry& entry) const;
  Unseen look_at_peer(int channel) const;
  static Unseen unseen_of(Fd pidfd);
  pid_t draw_number() REQUIRES(mutex_);
  std::uint64_t id_of(pid_t process) REQUIRES(mutex_);
  // Finds the entry of the process, at this or at another address; nullptr: it has none.
  Entries::value_type* find_of(pid_t process) REQUIRES(mutex_);
  const Entries::value_type* find_of(pid_t process) const REQUIRES(mutex_);
  Entries::value_type* find_same(const Entry& made) REQUIRES(mutex_);
  // Whether the channel of another socket may take the place of this one.
  bool is_left(const Entry& entry) const;
  // Under the key, and in all that counts or finds entries.
  void enter(const std::string& key, Entry made) REQUIRES(mutex_);
  void leave(const std::string& key) REQUIRES(mutex_);
  // The process goes on with another channel. False: it is another process.
  bool resume(Entry& before, Entry& made) REQUIRES(mutex_);
  // Notices its end. False: the kernel has no memory for that.
  bool watch(const Entry& entry) const;
  void unwatch(const Entry& entry) const;
  void take_ends() EXCLUDES(mutex_);
  void end(std::uint64_t id) EXCLUDES(mutex_);
  void end_absent() EXCLUDES(mutex_);
  void wait_for_ends();

  const QuotaReserve reserve_;
  const PeerPidfds pidfds_;
  DescriptorCloser closer_;
  boost::asio::posix::stream_descriptor ends_;  // an epoll(7) of all channels
  int ends_fd_ = -1;
  boost::asio::steady_timer absence_;
  PartKeeper* keeper_ = nullptr;  // nothing is kept
  TransferredPart* part_ = nullptr;
  std::atomic<std::size_t> count_{0};
  std::atomic<std::size_t> unseen_{0};
  mutable Mutex mutex_{LockRank::kAnswerChannels};
  std::uint32_t last_id_ GUARDED_BY(mutex_) = 0;
  std::uint32_t last_number_ GUARDED_BY(mutex_) = 0;
  Entries by_key_ GUARDED_BY(mutex_);
  boost::unordered_flat_map<pid_t, std::string> keys_ GUARDED_BY(mutex_);  // of processes
  boost::unordered_flat_map<std::uint64_t, pid_t> by_identity_ GUARDED_BY(mutex_);
  boost::unordered_flat_map<uid_t, std::size_t> of_uid_ GUARDED_BY(mutex_);  // entries
};

}  // namespace tallyfs
