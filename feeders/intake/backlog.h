// Datagrams that wait because their sender's commands are costly. A command costs what it touches:
// a `define` of all that is in an interface of a quarter of a million statistics takes
// milliseconds, and one datagram holds thousands of them. A sender whose costly commands take more
// than a share of the time is put off: its datagrams are kept here in order, and carried out in
// turns that alternate with those of the socket. So it delays itself, and other senders by at most
// a turn.
//
// A sender is a process. Of a uid that is neither root's nor the daemon's all processes together
// are one, since they may be as many as they like.
//
// Limits: kBytesOfSenderMax put off of one sender, kBytesMax of all, beyond which put() refuses;
// kSendersMax senders have an account, and of further ones nothing is put off.
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
#include "core/branch/ownership.h"
#include "feeders/intake/receiver.h"

namespace tallyfs {

class Backlog {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // A command that takes less costs nothing here.
  static constexpr std::chrono::microseconds kCostly{10};
  // A sender's debt is the time that its costly commands took, less one kShare-th of the time that
  // has passed. A sender with a debt above kAllowance is held.
  static constexpr int kShare = 4;
  static constexpr std::chrono::milliseconds kAllowance{20};
  // No debt is larger: kShare times as long after its last costly command, a sender has none.
  static constexpr std::chrono::seconds kDebtMax{1};
  static constexpr std::size_t kBytesOfSenderMax = 16u << 20;
  static constexpr std::size_t kBytesMax = 64u << 20;
  static constexpr std::size_t kSendersMax = 1024;

  // A datagram, or the rest of one that was begun.
  struct Late {
    std::vector<char> bytes;
    Datagram datagram;  // its bytes are a view of those above
    bool is_rest = false;
  };

  explicit Backlog(uid_t owner) : ownership_(owner) {}

  // Adds to the sender's debt what its costly commands took since the last call. The caller leaves
  // out those below kCostly.
  void charge(const Origin& sender, Nanoseconds spent, Nanoseconds now);
  // Whether its datagrams have to wait here. That ends when its debt is within kAllowance and none
  // of its datagrams is left here, which is looked at once a second. A load and a branch while no
  // sender is held.
  bool holds(const Origin& sender, Nanoseconds now) { return held_ != 0 && is_held(sender, now); }

  // Only of a sender that it holds. kNoSpace: a bound is reached; nothing was kept.
  Result<void> put(const Datagram& datagram);
  // What is left of one that was begun, before all else of its sender. kNoSpace as above, never for
  // one that was just taken from here.
  Result<void> put_rest(const Datagram& datagram, std::vector<char> rest);

  bool empty() const { return turns_.empty(); }
  // The next one, taking senders in turn. Not while empty().
  Late take();

 private:
  struct Account {
    Nanoseconds debt{0};  // as of `as_of`
    Nanoseconds as_of{0};
    bool is_held = false;
    std::deque<Late> late;
    std::size_t bytes = 0;

    void let_time_pass(Nanoseconds now);
  };
  static constexpr std::chrono::seconds kLookPause{1};

  std::uint64_t key_of(const Origin& sender) const;
  Account* find(const Origin& sender) const;
  Account* find_or_make(const Origin& sender, Nanoseconds now);
  bool is_held(const Origin& sender, Nanoseconds now);
  // Senders without debt or datagrams lose their account.
  void look_at_all(Nanoseconds now);
  Result<void> check_room(const Account& account, std::size_t bytes) const;
  Account& entered(const Origin& sender, std::size_t bytes);

  const Ownership ownership_;
  Nanoseconds looked_{0};  // at all
  boost::unordered_flat_map<std::uint64_t, std::unique_ptr<Account>> accounts_;
  std::size_t held_ = 0;        // accounts that are held
  std::deque<Account*> turns_;  // those with something late, the next one first
  std::size_t bytes_ = 0;
};

}  // namespace tallyfs
