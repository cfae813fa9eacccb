// Datagrams that wait because their sender is beyond its share of the intake's time. A flood of
// samples takes all of that time; and a command costs what it touches: a `define` of all that is in
// an interface of a quarter of a million statistics takes milliseconds, and one datagram holds
// thousands of them. The datagrams of such a sender are kept here in order, and taken in turns that
// alternate with those of the socket. So it delays itself, and other senders by at most a turn.
//
// A sender is a process. Of a uid that is neither root's nor the daemon's all processes together
// are one, since they may be as many as they like.
//
// A user namespace has as many uids as its root likes. So all such uids together have the share and
// the allowance of one sender, too: while they are beyond it, each has an equal part.
//
// Limits: kBytesOfSenderMax of one sender, kBytesMax of all: then the intake makes room.
// kSendersMax processes and kUidsMax uids have an account; further processes share one, and further
// uids another.
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

#include "core/base/line_progress.h"
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
  // One datagram of each at least is begun before its uid is held, for which others wait.
  static constexpr std::size_t kUidsMax = 16;
  // An account stays for so long after its use, so that no flood of new uids takes its place.
  static constexpr std::chrono::seconds kKeptUnused{10};

  // A datagram, or the rest of one that was begun.
  struct Late {
    std::vector<char> bytes;
    Datagram datagram;  // its bytes are a view of those above
    bool is_rest = false;
    LineProgress progress{};  // of the first line of a rest
  };

  // The queue outlives this, and is told of the senders that are held.
  explicit Backlog(SocketQueue& queue) : queue_(queue) {}

  // Adds to the sender's debt what taking its datagrams took since the last call.
  void charge(const Origin& sender, Cost cost, Nanoseconds spent, Nanoseconds now);
  // The most that datagrams of so many bytes are charged with.
  Nanoseconds cost_max(const Origin& sender, std::size_t bytes) const;
  // Whether it is beyond its share. That ends when its debt is within its allowance and none
  // of its datagrams is left here, which is looked at once a second. A load and a branch while no
  // sender is held.
  bool holds(const Origin& sender, Nanoseconds now) {
    return queue_.holds_any() && is_held(sender, now);
  }
  // Of a sender that it holds: whether the cost of its commands is why; whether some are here.
  bool holds_for_commands(const Origin& sender) const;
  bool has_late_of(const Origin& sender) const;

  // What readers have left for long rings of this sender. Takes no lock. Senders without an account
  // share one such time.
  Nanoseconds reading_left(const Origin& sender, Nanoseconds now) const;
  void spend_reading(const Origin& sender, Nanoseconds spent, Nanoseconds now);

  // Only of a sender that it holds, and for which there is room.
  bool has_room(const Origin& sender, std::size_t bytes) const;
  // Whether what the sender has here leaves no room for so many bytes.
  bool is_full_of(SocketQueue::Key sender, std::size_t bytes) const;
  void put(const Datagram& datagram);
  // What is left of one that was begun, before all else of its sender. There is room for one that
  // was just taken from here.
  void put_rest(const Datagram& datagram, std::vector<char> rest, const LineProgress& progress);

  // What a server before has put off: its sender is held from now on.
  void adopt(Late late, Nanoseconds now);

  bool empty() const { return turns_.empty(); }
  // A sender may soon have no room.
  bool is_nearly_full() const { return bytes_ > kBytesOfSenderMax / 2; }
  // The next one, taking senders in turn. Not while empty().
  Late take();
  // The oldest that is in the way of so many bytes of this sender, for which there is no room: its
  // own where it has too many, else one of the sender with most.
  Late take_in_the_way_of(const Origin& sender, std::size_t bytes);

 private:
  using Key = SocketQueue::Key;
  // What was taken beyond the share.
  struct Debt {
    Nanoseconds of_all{0};  // these as of `as_of`
    Nanoseconds of_commands{0};
    Nanoseconds as_of{0};

    // parts: of the share, one is had.
    void let_time_pass(Nanoseconds now, int parts);
    void add(Cost cost, Nanoseconds spent);
    bool is_within(Nanoseconds allowance) const {
      return of_all <= allowance && of_commands <= allowance;
    }
    bool is_none() const { return of_all.count() == 0 && of_commands.count() == 0; }
  };
  struct Account {
    Key sender = 0;
    Debt debt;
    Nanoseconds used{0};  // last
    RefilledTime reading{kReadingMax, kReadingShare};
    bool is_held = false;
    std::deque<Late> late;
    std::size_t bytes = 0;
  };
  static constexpr std::chrono::seconds kLookPause{1};

  Account* find(const Origin& sender) const;
  Account* find(Key sender) const;
  Account* find_or_shared(Key sender) const;
  Account& find_or_make(const Origin& sender, Nanoseconds now);
  Account& make(Key sender, Nanoseconds now);
  bool has_place_for(Key sender) const;
  // Into how many parts the share and the allowance are divided of which the sender has one.
  int parts_for(Key sender) const;
  bool is_within_allowance(const Account& account) const {
    return account.debt.is_within(kAllowance / parts_for(account.sender));
  }
  bool is_held(const Origin& sender, Nanoseconds now);
  // Senders without debt or datagrams lose their account.
  void look_at_all(Nanoseconds now);
  void forget(Key sender);
  Account& entered(const Origin& sender, std::size_t bytes);
  Late take_first_of(Account& account);

  SocketQueue& queue_;
  Nanoseconds looked_{0};  // at all
  boost::unordered_flat_map<Key, std::unique_ptr<Account>> accounts_;
  std::size_t uids_ = 0;  // of the accounts
  Debt uids_debt_;        // of all together
  RefilledTime reading_of_others_{kReadingMax, kReadingShare};
  std::deque<Account*> turns_;  // those with something late, the next one first
  std::size_t bytes_ = 0;
};

}  // namespace tallyfs
