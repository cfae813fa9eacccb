// When the intake reads rings of feeders, and what processes leave in their lanes that end.
#include <algorithm>
#include <utility>
#include <vector>

#include "feeders/intake/intake.h"

namespace tallyfs {

namespace {

// The longest record: what taking it may cost is bounded like that of a datagram of so many bytes.
constexpr std::size_t kRecordBytesMax = 32;

Origin origin_of(const Sender& sender) { return {.pid = sender.pid, .uid = sender.uid}; }

}  // namespace

Intake::Progress Intake::take_rings(RingWork work) {
  if (!dispatcher_.has_rings()) return Progress::kDone;
  // Pointers: to clang, a lambda is a function that does not have the lock.
  Backlog* const backlog = &backlog_;
  RefilledTime* const long_rings = &long_rings_;
  const auto now = clock_.now().monotonic;
  // What it looks at once a second is looked at here, and not with the lock of the lanes.
  (void)backlog->holds({}, now);
  struct Charge {
    Origin sender;
    std::uint64_t records;
    std::chrono::nanoseconds spent;
  };
  std::vector<Charge> charges;
  const RingShares shares{
      .is_held = [&](const Sender& sender) { return backlog->holds(origin_of(sender), now); },
      .held_until = work.held_until,
      .few_words = work.by == RingWork::By::kReader ? Lanes::kFewRingWords : UINT64_MAX,
      .long_until =
          [&](const Sender& sender) {
            const auto then = clock_.now().monotonic;
            const auto of_sender = backlog->reading_left(origin_of(sender), then);
            const auto left = std::min(long_rings->left(then), of_sender);
            return left < kCatchUpLeast ? then : std::min(then + left, work.until.deadline);
          },
      .charge =
          [&](const Sender& sender, RingShares::Turn turn, std::uint64_t records,
              std::chrono::nanoseconds spent) {
            const Origin origin = origin_of(sender);
            charges.push_back({origin, records, spent});
            if (turn == RingShares::Turn::kHeld && work.by == RingWork::By::kReader) {
              on_others_.spend(spent, now);
              on_others_.forgive(now);
            }
            if (turn != RingShares::Turn::kLong) return;
            long_rings->spend(spent, now);
            backlog->spend_reading(origin, spent, now);
          },
      .wanted = work.until.wanted,
      .before_long = std::move(work.before_long)};
  const auto done = dispatcher_.take_rings(work.until.deadline, shares, work.which, work.of);
  for (const Charge& each : charges) {
    const auto most = backlog->cost_max(each.sender, each.records * kRecordBytesMax);
    backlog->charge(each.sender, Backlog::Cost::kAll, std::min(each.spent, most), now);
  }
  if (done.all) return Progress::kDone;
  if (!done.is_cut && work.by == RingWork::By::kReader) return Progress::kLeft;
  if (work.which == Lanes::Which::kAll) looks_at_rings_ = true;
  return Progress::kCut;
}

// What they have sent over the socket before, and was put off, counts before what is in their
// rings.
std::chrono::nanoseconds Intake::held_rings_until(std::chrono::nanoseconds begun) {
  const auto left = on_others_.left(begun) - kMoveReserve;
  if (left < kCatchUpLeast || !backlog_.empty()) return std::chrono::nanoseconds(0);
  return begun + std::min<std::chrono::nanoseconds>(left, kSettleMax);
}

// Nothing of the socket is waited for, only what rings hold of senders within their share. What is
// cut is gone on with soon, like what feeders have rung for: they do not ring again.
void Intake::take_rings_as_reader(const Subjects& of, const std::function<void()>& before_waiting) {
  bool told = !before_waiting;
  const auto tell = [&] {
    if (!std::exchange(told, true)) before_waiting();
  };
  if (works_.load(std::memory_order_relaxed)) tell();
  readers_waiting_.fetch_add(1);
  auto progress = Progress::kDone;
  bool has_rung = false;
  {
    const MutexLock lock(turn_);
    note_served();
    dispatcher_.note_ring_heads(Lanes::Which::kAll, of);
    progress = take_rings({.until = {clock_.now().monotonic + kSettleMax},
                           .by = RingWork::By::kReader,
                           .before_long = tell,
                           .of = of});
    has_rung = dispatcher_.has_rung();
    dispatcher_.publish_counts(clock_.now());
    works_.store(false, std::memory_order_relaxed);
  }
  if (progress == Progress::kDone) return;
  statistics_.counters().count(DaemonCounter::kDrainsCut, 1, clock_.now());
  if (progress == Progress::kCut || has_rung) nudge();
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
  return !backlog_.holds(sender, now) || held_ends_.left(now) >= kCatchUpLeast;
}

Intake::Ended Intake::take_lanes_of(pid_t process) {
  const auto uid = lanes_ ? lanes_->uid_of(process) : std::nullopt;
  if (!uid) {
    settle();
    return Ended::kTaken;
  }
  const Sender sender(*uid, process);
  if (!has_time_for_end(origin_of(sender))) return Ended::kLater;
  if (!lanes_->is_ending(process)) settle();
  return take_end_of(sender, [&](Moment now, const IsLate&) {
    return lanes_->process_ended(process, now, now.monotonic + kTurnMax);
  });
}

// Without the turn, so that readers and other senders go on meanwhile.
Intake::Ended Intake::take_end_of(const Sender& process, const TakeEnd& take) {
  const Origin sender = origin_of(process);
  if (!has_time_for_end(sender)) return Ended::kLater;
  const Moment now = clock_.now();
  const auto begun = clock_.cpu_time();
  const bool is_taken =
      take(now, [&] { return clock_.now().monotonic >= now.monotonic + kTurnMax; });
  const auto spent = clock_.cpu_time() - begun;
  work_();
  if (spent >= Backlog::kCostly) {
    const MutexLock lock(turn_);
    if (backlog_.holds(sender, now.monotonic)) held_ends_.spend(spent, now.monotonic);
    backlog_.charge(sender, Backlog::Cost::kAll, spent, now.monotonic);
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
