// When the intake reads rings of feeders, and what processes leave in their lanes that end.
#include <algorithm>
#include <utility>
#include <vector>

#include "feeders/intake/intake.h"

namespace tallyfs {

namespace {

Origin origin_of(const Sender& sender) { return {.pid = sender.pid, .uid = sender.uid}; }

}  // namespace

Intake::Progress Intake::take_rings(const RingWork& work) {
  if (!dispatcher_.has_rings()) return Progress::kDone;
  auto now = clock_.now().monotonic;
  accounts_.let_go_in_time(now);
  const RingSchedule::Limits limits{
      .deadline = work.until.deadline, .held_until = work.held_until, .by = work.by};
  RingSchedule schedule(accounts_, budgets_, limits, lanes_->filled_rings(work.which, work.of),
                        now);
  while (const auto step = schedule.next(now)) {
    const bool is_long = step->rings.words + 2 * schedule.records() > RingSchedule::kFewWords;
    if (work.before_long && is_long) work.before_long();
    const auto begun = now;
    const auto done = lanes_->read_rings(step->rings.lane, step->deadline, work.until.wanted);
    now = clock_.now().monotonic;
    schedule.finish(*step, {.is_all = done.all, .records = done.records, .spent = now - begun},
                    now);
  }
  lanes_->finish_rings(schedule.cuts(), work.which, work.of);
  const auto outcome = schedule.outcome();
  if (outcome == Progress::kDone) return outcome;
  dispatcher_.note_rings_cut();
  if (outcome == Progress::kLeft && work.by == RingSchedule::By::kReader) return outcome;
  if (work.which == Lanes::Which::kAll) looks_at_rings_ = true;
  return Progress::kCut;
}

// Datagrams of theirs that were put off count before what is in their rings.
std::chrono::nanoseconds Intake::held_rings_until(std::chrono::nanoseconds begun) {
  const auto left = budgets_.held_senders.left(begun) - Budgets::kMoveReserve;
  if (left < Budgets::kLeast || !backlog_.empty()) return std::chrono::nanoseconds(0);
  return begun + std::min<std::chrono::nanoseconds>(left, kSettleMax);
}

void Intake::note_served() {
  works_.store(true, std::memory_order_relaxed);
  readers_waiting_.fetch_sub(1);
  readers_served_.fetch_add(1);
  readers_served_.notify_all();
}

bool Intake::has_time_for_end(const Origin& sender) {
  const MutexLock lock(turn_);
  const auto now = clock_.now().monotonic;
  return !holds(sender, now) || budgets_.held_ends.left(now) >= Budgets::kLeast;
}

Intake::Ended Intake::take_lanes_of(pid_t process) {
  const auto uid = lanes_ ? lanes_->uid_of(process) : std::nullopt;
  if (!uid) {
    drain_feeders();
    return Ended::kTaken;
  }
  const Sender sender(*uid, process);
  if (!has_time_for_end(origin_of(sender))) return Ended::kLater;
  if (!lanes_->is_ending(process)) drain_feeders();
  return take_end_of(sender, [&](Timestamp now, const IsLate&) {
    return lanes_->process_ended(process, now, now.monotonic + kTurnMax);
  });
}

// Without the turn, so that readers and other senders go on meanwhile.
Intake::Ended Intake::take_end_of(const Sender& process, const TakeEnd& take) {
  const Origin sender = origin_of(process);
  if (!has_time_for_end(sender)) return Ended::kLater;
  const Timestamp now = clock_.now();
  const auto begun = clock_.cpu_time();
  const bool is_taken =
      take(now, [&] { return clock_.now().monotonic >= now.monotonic + kTurnMax; });
  const auto spent = clock_.cpu_time() - begun;
  work_();
  if (spent >= Accounts::kCostly) {
    const MutexLock lock(turn_);
    if (holds(sender, now.monotonic)) budgets_.held_ends.spend(spent, now.monotonic);
    accounts_.charge(queue_.key_of(sender), Cost::kAll, spent, now.monotonic);
  }
  return is_taken ? Ended::kTaken : Ended::kCut;
}

void Intake::take_rings_at_end(std::chrono::nanoseconds at_most) {
  const MutexLock lock(turn_);
  dispatcher_.note_ring_heads();
  (void)dispatcher_.take_rings(clock_.now().monotonic + at_most);
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
