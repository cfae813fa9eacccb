// The barrier as requests use it: while one waits or works for long, another thread answers
// requests. Thread-safe, once it is known who does.
#pragma once

#include "core/base/clock.h"
#include "core/tree/barrier.h"
#include "core/tree/subject.h"
#include "fs/leader_followers.h"

namespace tallyfs {

class RequestBarrier {
 public:
  // The barrier outlives this.
  explicit RequestBarrier(Barrier& barrier) : barrier_(barrier) {}

  // Called while no request can come. Nullptr: the caller's thread is the only one.
  void promote_through(LeaderFollowers* threads) { threads_ = threads; }
  // Called before work that may take long: another thread answers requests meanwhile.
  void promote_follower() const {
    if (threads_) threads_->promote_follower();
  }
  // Returns the time of the request from then on, of which its text is: behind a truncation alone
  // the clock is read anew.
  Timestamp drain_feeders(Subject subject = nullptr) {
    return barrier_.drain_feeders(subject, [this] { promote_follower(); });
  }

 private:
  Barrier& barrier_;
  LeaderFollowers* threads_ = nullptr;
};

}  // namespace tallyfs
