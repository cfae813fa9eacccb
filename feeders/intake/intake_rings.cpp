// When the intake reads rings of feeders.
#include "feeders/intake/intake.h"

namespace tallyfs {

Intake::Progress Intake::take_rings(std::chrono::nanoseconds deadline) {
  const LaneRings::Done done = dispatcher_.take_rings(deadline);
  return done.all ? Progress::kDone : Progress::kCut;
}

// Nothing of the socket is waited for, only what rings hold.
void Intake::take_rings_as_reader() {
  if (!lanes_ || !lanes_->has_rings()) return;
  {
    readers_waiting_.fetch_add(1);
    const MutexLock lock(turn_);
    readers_waiting_.fetch_sub(1);
    readers_served_.fetch_add(1);
    readers_served_.notify_all();
    dispatcher_.note_ring_heads();
    const auto deadline = clock_.now().monotonic + kSettleMax;
    if (take_rings(deadline) == Progress::kDone) return;
  }
  statistics_.own().count(Own::kDrainsCut, 1, clock_.now());
}

void Intake::take_rings_at_end(std::chrono::nanoseconds at_most) {
  const MutexLock lock(turn_);
  dispatcher_.note_ring_heads();
  (void)take_rings(clock_.now().monotonic + at_most);
  dispatcher_.publish_counts(clock_.now());
}

void Intake::watch_rings() {
  if (watches_rings_.exchange(true)) return;
  loop_.post([this] { look_at_rings(); });
}

void Intake::look_at_rings() {
  looks_at_rings_ = true;
  if (take_turn() == Progress::kCut) nudge();
  bool has_rings = false, is_busy = false;
  {
    const MutexLock lock(turn_);
    has_rings = dispatcher_.has_rings();
    is_busy = dispatcher_.has_busy_rings();
    if (!has_rings) watches_rings_ = false;
  }
  if (!has_rings) return;
  ring_timer_.expires_after(is_busy ? kRingPause : kIdleRingPause);
  ring_timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) look_at_rings();
  });
}

}  // namespace tallyfs
