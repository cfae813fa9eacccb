// Datagrams that wait because their sender is beyond its share of the intake's time. A flood of
// samples takes all of that time; and a command costs what it touches: a `define` of all that is in
// an interface of a quarter of a million statistics takes milliseconds, and one datagram holds
// thousands of them. The datagrams of such a sender are kept here in order, and taken in turns that
// alternate with those of the socket. So it delays itself, and other senders by at most a turn.
//
// A sender is a process. Of a uid that is neither root's nor the daemon's all processes together
// are one, since they may be as many as they like.
//
// Limits: kBytesOfSenderMax of one sender, kBytesMax of all: then the intake takes the oldest at
// once. kSendersMax senders have an account, and of further ones nothing is put off.
// Confined to the thread that has the intake's turn.
#pragma once

#include <sys/types.h>

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "core/base/result.h"
#include "feeders/intake/receiver.h"
#include "feeders/intake/refilled_time.h"
#include "feeders/intake/socket_queue.h"

namespace tallyfs {

class Backlog {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // What a sender is charged with, and the share of the time that it may take so: a part in that
  // many. What it took beyond the share is its debt; with a debt above kAllowance it is held.
  enum class Cost { kAll, kCommands };
  static constexpr int kShareOfAll = 2;
  static constexpr int kShareOfCommands = 4;
  static constexpr std::chrono::milliseconds kAllowance{20};
  // A command that takes less costs nothing here.
  static constexpr std::chrono::microseconds kCostly{10};
  // No debt is larger, so that it is over within seconds of its sender's last datagram.
  static constexpr std::chrono::seconds kDebtMax{1};
  // Not charged: what a byte takes beyond this while the machine has no time for the daemon.
  static constexpr Nanoseconds kByteCostMax{1'000};
  static constexpr Nanoseconds kTrustedByteCostMax{100};
  // What readers may spend on long rings of one sender, and the part of the time at which that is
  // refilled.
  static constexpr std::chrono::milliseconds kReadingMax{20};
  static constexpr int kReadingShare = 20;
  static constexpr std::size_t kBytesOfSenderMax = 16u << 20;
  static constexpr std::size_t kBytesMax = 64u << 20;
  static constexpr std::size_t kSendersMax = 1024;

  // A datagram, or the rest of one that was begun.
  struct Late {
    std::vector<char> bytes;
    Datagram datagram;  // its bytes are a view of those above
    bool is_rest = false;
  };

  // The queue outlives this, and is told of the senders that are held.
  explicit Backlog(SocketQueue& queue) : queue_(queue) {}

  // Adds to the sender's debt what taking its datagrams took since the last call.
  void charge(const Origin& sender, Cost cost, Nanoseconds spent, Nanoseconds now);
  // The most that datagrams of so many bytes are charged with.
  Nanoseconds cost_max(const Origin& sender, std::size_t bytes) const;
  // Whether it is beyond its share. That ends when its debt is within kAllowance and none
  // of its datagrams is left here, which is looked at once a second. A load and a branch while no
  // sender is held.
  bool holds(const Origin& sender, Nanoseconds now) {
    return queue_.holds_any() && is_held(sender, now);
  }
  // Of a sender that it holds: whether the cost of its commands is why; whether some are here.
  bool holds_for_commands(const Origin& sender) const;
  bool has_late_of(const Origin& sender) const;

  // What readers have left for long rings of this sender. Takes no lock. Of a sender that has no
  // account, and gets none, nothing is noted.
  Nanoseconds reading_left(const Origin& sender, Nanoseconds now) const;
  void spend_reading(const Origin& sender, Nanoseconds spent, Nanoseconds now);

  // Only of a sender that it holds, and for which there is room.
  bool has_room(const Origin& sender, std::size_t bytes) const;
  void put(const Datagram& datagram);
  // What is left of one that was begun, before all else of its sender. There is room for one that
  // was just taken from here.
  void put_rest(const Datagram& datagram, std::vector<char> rest);

  // What a server before has put off: its sender is held from now on. kNoSpace.
  Result<void> adopt(Late late, Nanoseconds now);

  bool empty() const { return turns_.empty(); }
  // The next one, taking senders in turn. Not while empty().
  Late take();
  // The oldest of this sender; if there is none, as take().
  Late take_oldest_of(const Origin& sender);

 private:
  struct Account {
    SocketQueue::Key sender = 0;
    Nanoseconds debt{0};  // these as of `as_of`
    Nanoseconds debt_of_commands{0};
    Nanoseconds as_of{0};
    RefilledTime reading{kReadingMax, kReadingShare};
    bool is_held = false;
    std::deque<Late> late;
    std::size_t bytes = 0;

    void let_time_pass(Nanoseconds now);
    bool is_within_allowance() const {
      return debt <= kAllowance && debt_of_commands <= kAllowance;
    }
    bool has_debt() const { return debt.count() != 0 || debt_of_commands.count() != 0; }
  };
  static constexpr std::chrono::seconds kLookPause{1};

  Account* find(const Origin& sender) const;
  Account* find_or_make(const Origin& sender, Nanoseconds now);
  Account* make(SocketQueue::Key sender, Nanoseconds now);
  bool is_held(const Origin& sender, Nanoseconds now);
  // Senders without debt or datagrams lose their account.
  void look_at_all(Nanoseconds now);
  Account& entered(const Origin& sender, std::size_t bytes);
  Late take_first_of(Account& account);

  SocketQueue& queue_;
  Nanoseconds looked_{0};  // at all
  boost::unordered_flat_map<SocketQueue::Key, std::unique_ptr<Account>> accounts_;
  std::deque<Account*> turns_;  // those with something late, the next one first
  std::size_t bytes_ = 0;
};

}  // namespace tallyfs
