// An account says how much of the intake's time a sender has used. A flood of samples takes all of
// that time; and a command costs what it touches: a `define` of all that is in an interface of a
// quarter of a million statistics takes milliseconds, and one datagram holds thousands of them. A
// sender beyond its share is held: its work waits for that of all others, so that it delays itself.
//
// A user namespace has as many uids as its root likes. So all such uids together have the share and
// the allowance of one sender, too: while they are beyond it, each has an equal part.
//
// Limits: kProcessesMax processes and kUidsMax uids have an account; further processes share one,
// and further uids another.
// Confined to the thread that has the intake's turn.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <memory>

#include "feeders/intake/fair_share/budget.h"
#include "feeders/intake/fair_share/sender_key.h"

namespace tallyfs {

// A sender is charged with one of these.
enum class Cost { kAll, kCommands };

// Time that was taken beyond the share.
class Debt {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // The share is one part in so many of the time that passes: one sender leaves the others half of
  // it, and its commands, which may each be long, leave half of its share to its samples.
  static constexpr int kShareOfAll = 2;
  static constexpr int kShareOfCommands = 4;
  // No debt is larger, so that it has ended kMost * kShareOfCommands, 4 s, after its sender's last
  // datagram.
  static constexpr std::chrono::seconds kMost{1};

  explicit Debt(Nanoseconds now = Nanoseconds(0)) : as_of_(now) {}

  // parts: of the share, of which the sender has one.
  void let_time_pass(Nanoseconds now, int parts);
  void add(Cost cost, Nanoseconds spent);
  bool is_within(Nanoseconds allowance) const {
    return of_all_ <= allowance && of_commands_ <= allowance;
  }
  bool is_none() const { return of_all_.count() == 0 && of_commands_.count() == 0; }
  Nanoseconds of_commands() const { return of_commands_; }

 private:
  Nanoseconds of_all_{0};
  Nanoseconds of_commands_{0};
  Nanoseconds as_of_;
};

// Follows which senders are held: SocketQueue, which tells whose datagrams are queued.
class HeldSenders {
 public:
  virtual ~HeldSenders() = default;
  // A sender that is not known is held with those that share an account.
  virtual void know(SenderKey sender) = 0;
  virtual void forget(SenderKey sender) = 0;
  virtual void hold(SenderKey sender) = 0;
  virtual void let_go(SenderKey sender) = 0;
};

class Accounts {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // A sender with a debt above it is held. It is as long as a drain of a reader's may last, since
  // readers wait for all that senders within their share have sent.
  static constexpr std::chrono::milliseconds kAllowance{20};
  // A command that takes less is not charged by itself: of the shortest, `remove a`, the 9 bytes
  // cost about as much at kByteCostMax.
  static constexpr std::chrono::microseconds kCostly{10};
  // Nor is a write of what it has changed. A change of one statistic takes 8 to 16 us, and a new
  // program makes thousands. A flood of them is charged by its bytes.
  static constexpr std::chrono::microseconds kCostlyWrite{50};
  // A sender is not charged with what a byte takes beyond this while the machine has no time for
  // the daemon. A byte of refused `create` lines takes 130 ns, and one of a datagram with one
  // sample 27 ns (docs/performance.md). Commands of longer work are charged as such.
  static constexpr Nanoseconds kByteCostMax{1'000};
  static constexpr Nanoseconds kTrustedByteCostMax{100};
  // Readers may spend so much on long rings of one sender, refilled at that part of the time: half
  // of what Budgets::long_rings has for all, so that one sender does not use up everything.
  static constexpr std::chrono::milliseconds kReadingMax{20};
  static constexpr int kReadingShare = 20;
  static constexpr std::size_t kProcessesMax = 1024;
  // One datagram of each at least is begun before its uid is held, for which others wait.
  static constexpr std::size_t kUidsMax = 16;
  // An account stays for so long after its use, so that no flood of new uids takes its place: more
  // than twice as long as the longest debt lasts.
  static constexpr std::chrono::seconds kKeptUnused{10};

  struct Account {
    SenderKey sender;
    Debt debt;
    Nanoseconds used{0};  // last
    Budget reading{kReadingMax, kReadingShare};
    bool is_held = false;
    bool has_deferred = false;  // the backlog has something of this sender
  };

  // held outlives this.
  explicit Accounts(HeldSenders& held) : held_(held) {}

  // Adds to the sender's debt what its work took since the last call.
  void charge(SenderKey sender, Cost cost, Nanoseconds spent, Nanoseconds now);
  // The most that work on so many bytes is charged with.
  static Nanoseconds cost_max(SenderKey sender, std::size_t bytes) {
    const auto of_byte = sender.is_uid() ? kByteCostMax : kTrustedByteCostMax;
    return of_byte * static_cast<Nanoseconds::rep>(bytes);
  }
  // Whether it is beyond its share. That ends when its debt is within its allowance and nothing of
  // it is deferred, which is looked at once a second. A load and a branch while no sender is held.
  bool holds(SenderKey sender, Nanoseconds now) { return held_count_ != 0 && is_held(sender, now); }
  // As holds() does, for intakes that are not asked about a sender for long.
  void let_go_in_time(Nanoseconds now) {
    if (held_count_ != 0 && now - looked_ >= kLookPause) look_at_all(now);
  }
  // Whether a held sender is held for the cost of its commands.
  bool holds_for_commands(SenderKey sender) const;
  // The sender is held from now on.
  void hold(SenderKey sender, Nanoseconds now);

  // Returns what readers have left for long rings of this sender. Senders without an account share
  // one such budget.
  Nanoseconds reading_left(SenderKey sender, Nanoseconds now) const;
  void spend_reading(SenderKey sender, Nanoseconds spent, Nanoseconds now);

  // Its own account, or the one that it shares; nullptr: there is neither.
  Account* find(SenderKey sender) const;

 private:
  // A look at all accounts, 1,040 at most, takes 8 us. A sender is let go a second late at most.
  static constexpr std::chrono::seconds kLookPause{1};

  Account* find_own(SenderKey sender) const;
  Account& find_or_make(SenderKey sender, Nanoseconds now);
  Account& make(SenderKey sender, Nanoseconds now);
  bool has_place_for(SenderKey sender) const;
  // Into how many parts the share and the allowance are divided of which the sender has one.
  int parts_for(SenderKey sender) const;
  bool is_within_allowance(const Account& account) const {
    return account.debt.is_within(kAllowance / parts_for(account.sender));
  }
  bool is_held(SenderKey sender, Nanoseconds now);
  void hold(Account& account);
  void let_go(Account& account);
  // Lets go of senders within their allowance. Unused accounts without debt go.
  void look_at_all(Nanoseconds now);

  HeldSenders& held_;
  std::size_t held_count_ = 0;
  Nanoseconds looked_{0};  // at all
  boost::unordered_flat_map<SenderKey, std::unique_ptr<Account>> accounts_;
  std::size_t uids_ = 0;  // of the accounts
  Debt uids_debt_;        // of all together
  Budget reading_of_others_{kReadingMax, kReadingShare};
};

}  // namespace tallyfs
