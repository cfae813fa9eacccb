// The time that the intake may spend, in all, on what does not have to be done at once.
// One thread at a time spends: that which has the intake's turn. Any thread may look at them.
#pragma once

#include <chrono>

#include "feeders/intake/fair_share/budget.h"

namespace tallyfs {

struct Budgets {
  // A budget with less left is not spent: to begin costs a reader about as much as a wake-up.
  static constexpr std::chrono::milliseconds kLeast{1};

  // Readers spend this on senders beyond their share. A thousand opens in a row that take a second
  // so wait 60 ms for them in all, of 100 ms that a flood may cost.
  static constexpr std::chrono::milliseconds kHeldSendersMax{40};
  static constexpr int kHeldSendersShare = 50;
  // A part of it is only for moving datagrams from a long queue to the backlog. That has to be done
  // anyway, while looking for others behind them takes as long and moves nothing. It is as long as
  // the longest drain.
  static constexpr std::chrono::milliseconds kMoveReserve{20};
  Budget held_senders{kHeldSendersMax, kHeldSendersShare};

  // Readers spend this on rings of senders that have much in them (RingSchedule::kFewWords), but
  // are within their share: two drains at once. At 0.05 us a sample, a tenth of the time is two
  // million samples a second. A sender of more than ten million is held, and its rings cost readers
  // the budget above.
  static constexpr std::chrono::milliseconds kLongRingsMax{40};
  static constexpr int kLongRingsShare = 10;
  Budget long_rings{kLongRingsMax, kLongRingsShare};

  // The loop spends this on what processes leave that end, whose senders are beyond their share:
  // ten turns (Intake::kTurnMax) at once, and then one each 20 ms.
  static constexpr std::chrono::milliseconds kHeldEndsMax{20};
  static constexpr int kHeldEndsShare = 10;
  Budget held_ends{kHeldEndsMax, kHeldEndsShare};
};

}  // namespace tallyfs
