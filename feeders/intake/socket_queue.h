// The socket's queue: takes datagrams off it, and tells whose are still in it without taking them
// off (MSG_PEEK at SO_PEEK_OFF). So a reader learns at no cost that only senders beyond their share
// (backlog.h) have sent something, for which it does not wait.
//
// It is not in fair_share, which has no system calls: it peeks, and receives by Receiver with the
// answer channels below it.
//
// Thread-safe. What receive() returns belongs to the thread that has the intake's turn.
// Limits: notes the sender of each queued datagram, so as many as the kernel's queue holds.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>

#include "core/base/mutex.h"
#include "core/branch/ownership.h"
#include "feeders/intake/fair_share/accounts.h"
#include "feeders/intake/fair_share/sender_key.h"
#include "feeders/intake/receiver.h"

namespace tallyfs {

class SocketQueue final : public HeldSenders {
 public:
  // Whose datagrams are queued, or received and not finished. kTooMany: held senders' among others
  // that were not looked at.
  enum class Waiting { kNothing, kOfHeldOnly, kOfOthers, kTooMany };
  static constexpr std::size_t kAll = ~std::size_t{0};
  // A look at a datagram takes the longer the more are before it: 1 us at the first, 7 us at the
  // five-hundredth, where to drop one takes 4 us. So a longer queue is made shorter, not looked at.
  static constexpr std::size_t kLong = 256;
  static constexpr unsigned kDefaultLength = 10;  // net.unix.max_dgram_qlen of Linux

  // length: how many datagrams the queue can hold; where that is not known, the kernel's default is
  // assumed. channels: as Receiver's.
  SocketQueue(int fd, uid_t owner, std::optional<unsigned> length,
              AnswerChannels* channels = nullptr)
      : fd_(fd),
        ownership_(owner),
        long_(std::min<std::size_t>(length.value_or(kDefaultLength), kLong)),
        receiver_(fd, channels) {}

  SenderKey key_of(const Origin& sender) const { return {ownership_, sender.uid, sender.pid}; }

  // As Receiver's: what was received before is taken in.
  void receive_into(InputJournal& journal) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    receiver_.receive_into(journal);
  }
  // The next ones, at_most <= Receiver::kBatch; good until the next call. Not while one is
  // unfinished.
  std::span<const Datagram> receive(std::size_t at_most = Receiver::kBatch) EXCLUDES(mutex_);
  // Returns the first of those that were looked at.
  struct Queued {
    SenderKey sender;
    std::size_t bytes = 0;
  };
  std::optional<Queued> first() EXCLUDES(mutex_);
  // Takes that one off and drops it. Not while one that was received is unfinished.
  bool discard_first() EXCLUDES(mutex_);
  // All that was received is taken in, or put off.
  void finish_received() EXCLUDES(mutex_);
  // Whether some of what was received is of a sender within its share.
  bool received_of_others() const EXCLUDES(mutex_);

  void know(SenderKey sender) override EXCLUDES(mutex_);
  void forget(SenderKey sender) override EXCLUDES(mutex_);
  void hold(SenderKey sender) override EXCLUDES(mutex_);
  void let_go(SenderKey sender) override EXCLUDES(mutex_);
  bool holds_any() const { return holds_any_.load(std::memory_order_relaxed); }
  // Looks at so many more at most: each look costs the kernel a walk from the queue's start.
  // kOfOthers as well where the kernel does not tell.
  Waiting waiting(std::size_t looks_max = kAll) EXCLUDES(mutex_);

  // Something that the sender sent is put off, or nothing any more.
  void note_deferred(SenderKey sender) EXCLUDES(mutex_);
  void note_caught_up(SenderKey sender) EXCLUDES(mutex_);
  // Whether others wait for what is received or put off: a datagram of a sender within its share
  // was received, one of a sender with nothing put off is queued, or the queue is so long that
  // senders may wait for a place. It looks at the first kLong. True as well where the kernel does
  // not tell.
  bool others_may_wait() EXCLUDES(mutex_);

 private:
  using Keys = boost::unordered_flat_set<SenderKey>;

  enum class Look { kFound, kEnd, kFailed };
  // Notes what came since the last look. kFound: there may be more; kFailed: the kernel does not
  // tell.
  Look look(std::size_t looks_max) REQUIRES(mutex_);
  // One datagram behind those that are noted.
  Look look_at_next() REQUIRES(mutex_);
  bool has(const Keys& keys, SenderKey sender) const REQUIRES(mutex_);
  // One of those that are noted is of a sender that is not in these keys.
  bool has_queued_beside(const Keys& keys) const REQUIRES(mutex_);
  std::size_t count_others(std::span<const Datagram> datagrams) const REQUIRES(mutex_);

  const int fd_;
  const Ownership ownership_;
  const std::size_t long_;  // a queue of so many datagrams is long
  std::atomic<bool> holds_any_{false};
  mutable Mutex mutex_{LockRank::kIntakeQueue};
  Receiver receiver_ GUARDED_BY(mutex_);
  Keys known_ GUARDED_BY(mutex_);
  Keys held_ GUARDED_BY(mutex_);
  Keys deferred_ GUARDED_BY(mutex_);  // with something put off
  std::size_t received_ GUARDED_BY(mutex_) = 0;
  std::size_t received_of_others_ GUARDED_BY(mutex_) = 0;
  std::deque<Queued> queued_ GUARDED_BY(mutex_);  // the first of the queue
  std::size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tallyfs
