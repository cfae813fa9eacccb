// Datagrams that were put off because their sender is beyond its share (fair_share/accounts.h).
// They are kept here in order, and processed in turns that alternate with those of the socket: so
// they delay other senders by at most a turn.
//
// Limits: kBytesOfSenderMax of one sender, kBytesMax of all: then the intake makes room.
// Confined to the thread that has the intake's turn.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <deque>
#include <memory>
#include <vector>

#include "core/base/line_progress.h"
#include "feeders/intake/fair_share/accounts.h"
#include "feeders/intake/fair_share/sender_key.h"
#include "feeders/intake/receiver.h"
#include "feeders/intake/socket_queue.h"

namespace tallyfs {

class Backlog {
 public:
  static constexpr std::size_t kBytesOfSenderMax = 16u << 20;
  static constexpr std::size_t kBytesMax = 64u << 20;

  // A datagram, or the rest of one that was begun.
  struct Deferred {
    // bytes: a copy of the datagram's, or the rest of them.
    static Deferred of(const Datagram& datagram, std::vector<char> bytes, bool is_rest);

    std::vector<char> bytes;
    Datagram datagram;  // its bytes are a view of those above
    bool is_rest = false;
    LineProgress progress{};  // of the first line of a rest
  };

  // Both outlive this. The queue is told of the senders that have something here.
  Backlog(SocketQueue& queue, Accounts& accounts) : queue_(queue), accounts_(accounts) {}

  bool has_any_of(const Origin& sender) const;
  // Only of a sender that is held, and for which there is room.
  bool has_room(const Origin& sender, std::size_t bytes) const;
  // Whether what the sender has here leaves no room for so many bytes.
  bool is_full_of(SenderKey sender, std::size_t bytes) const;
  void put(const Datagram& datagram);
  // Puts the rest of a datagram that was begun before all else of its sender. There is room for one
  // that was just taken from here.
  void put_rest(const Datagram& datagram, std::vector<char> rest, const LineProgress& progress);

  // Puts what an earlier server has put off. Its sender is held from now on.
  void adopt(Deferred deferred, std::chrono::nanoseconds now);

  // Visits the datagram of each.
  template <typename Visit>
  void each(Visit visit) {
    for (const auto& [sender, queue] : queues_) {
      for (Deferred& deferred : queue->deferred) visit(deferred.datagram);
    }
  }

  bool empty() const { return turns_.empty(); }
  // A sender may soon have no room.
  bool is_nearly_full() const { return bytes_ > kBytesOfSenderMax / 2; }
  // The next one, taking senders in turn. Not while empty().
  Deferred take();
  // Takes the oldest that is in the way of so many bytes of this sender, for which there is no
  // room: its own where it has too many, else that of the sender with most. A uid with as much
  // comes before processes of root's and the daemon's, whose datagrams are never dropped: to carry
  // one out would cost others time for a stranger's sake. A uid so loses only what it has beyond
  // that of every other uid: of kUidsMax + 1 accounts each keeps 3.7 MiB, less what those processes
  // have.
  Deferred take_in_the_way_of(const Origin& sender, std::size_t bytes);

 private:
  // An account has a queue while something of it is deferred.
  struct Queue {
    Accounts::Account* account = nullptr;
    std::deque<Deferred> deferred;
    std::size_t bytes = 0;
  };

  Queue* find(SenderKey sender) const;
  std::size_t bytes_of(SenderKey sender) const;
  Queue& entered(const Origin& sender, std::size_t bytes);
  // Erases the queue after its last one.
  Deferred take_first_of(Queue& queue);

  SocketQueue& queue_;
  Accounts& accounts_;
  boost::unordered_flat_map<SenderKey, std::unique_ptr<Queue>> queues_;  // by key of the account
  std::deque<Queue*> turns_;                                             // the next one first
  std::size_t bytes_ = 0;
};

}  // namespace tallyfs
