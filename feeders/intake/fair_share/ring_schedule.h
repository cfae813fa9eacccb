// Whose rings are read next, and until when. Rings of senders within their share come first, in
// turn; then, for a reader, those of senders with much in them, the shortest first; then those of
// senders that are held. A feeder that fills its rings again and again, within its share, so does
// not delay a thousand opens, since all of these together are read within budgets.
//
// One object for each look at rings. Confined to the thread that has the intake's turn.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "feeders/intake/fair_share/accounts.h"
#include "feeders/intake/fair_share/budgets.h"
#include "feeders/intake/fair_share/sender_key.h"

namespace tallyfs {

class RingSchedule {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  // A sender with more words in its rings has much in them: 2,048 samples of the shortest form,
  // which take about 0.1 ms.
  static constexpr std::uint64_t kFewWords = 4096;

  // A lane's rings hold so much.
  struct Rings {
    std::uint64_t lane = 0;
    SenderKey sender;
    std::uint64_t words = 0;
  };
  enum class Turn { kFirst, kLong, kHeld };
  struct Step {
    Rings rings;
    Turn turn = Turn::kFirst;
    Nanoseconds deadline{0};
  };
  enum class By { kLoop, kReader };
  struct Limits {
    Nanoseconds deadline{0};
    Nanoseconds held_until{0};  // rings of held senders are read until then
    By by = By::kLoop;
  };
  // The lanes of which not all was read.
  struct Cuts {
    std::optional<std::uint64_t> first_turn;
    std::vector<std::uint64_t> later_turns;

    // Orders the lanes for the next look: it begins after the cut of the first turn, and those that
    // were cut in later turns come last. Each turn so gets on by itself: with one mark for all, the
    // cut of a held sender would begin each look anew before the same lane within its share.
    void order(std::vector<std::uint64_t>& lanes) const;
  };
  // kLeft: what is left is for later, as its sender is beyond its share. kCut: more is left.
  enum class Outcome { kDone, kLeft, kCut };

  // all: in the order in which lanes have their turns. Both outlive this.
  RingSchedule(Accounts& accounts, Budgets& budgets, const Limits& limits, std::vector<Rings> all,
               Nanoseconds now);

  // The rings that are to be read now; nothing: there are no more, or no time for them.
  std::optional<Step> next(Nanoseconds now);
  // They were read: wholly, or until the deadline at least.
  struct Done {
    bool is_all = true;
    std::uint64_t records = 0;
    Nanoseconds spent{0};
  };
  void finish(const Step& step, const Done& done, Nanoseconds now);

  Outcome outcome() const { return outcome_; }
  std::uint64_t records() const { return records_; }
  const Cuts& cuts() const { return cuts_; }

 private:
  struct Planned {
    Rings rings;
    Turn turn = Turn::kFirst;
    std::uint64_t sender_words = 0;  // in all rings of its sender, if that has much in them
  };

  Nanoseconds deadline_of(const Planned& planned, Nanoseconds now) const;
  void leave(Turn turn);

  Accounts& accounts_;
  Budgets& budgets_;
  const Limits limits_;
  std::vector<Planned> planned_;
  std::size_t next_ = 0;
  Outcome outcome_ = Outcome::kDone;
  std::uint64_t records_ = 0;
  Cuts cuts_;
};

}  // namespace tallyfs
