// What the lanes do with the rings of all feeders.
#include <algorithm>
#include <utility>

#include "feeders/intake/lanes.h"

namespace tallyfs {
namespace {

// Names of interfaces kept for the log.
constexpr std::size_t kSaturatedMax = 8;

}  // namespace

Result<Lanes::Tails> Lanes::tails(const Sender& sender, std::uint64_t lane) {
  const MutexLock lock(mutex_);
  const auto found = lanes_.find(lane);
  if (found == lanes_.end() || found->second.process != sender.pid) {
    return Error{ErrorCode::kNotFound, "this process has no such lane"};
  }
  const auto page = found->second.rings.tails();
  if (!page) return page.error();
  note_with_rings();
  return Tails{page.value()->fd_for_feeders(), page.value()->bytes()};
}

void Lanes::note_with_rings() {
  with_rings_.clear();
  by_process_.clear();
  for (const auto& [number, lane] : lanes_) {
    if (!lane.rings.has_tails()) continue;
    with_rings_.push_back(number);
    by_process_.emplace(lane.process, number);
  }
  has_rings_.store(!with_rings_.empty(), std::memory_order_relaxed);
}

LaneRings::Into Lanes::into() {
  if (saturated_.size() > kSaturatedMax) saturated_.resize(kSaturatedMax);
  return {ports_.statistics, ports_.counter, ports_.clock, saturated_};
}

void Lanes::note_heads() {
  if (!has_rings()) return;
  const MutexLock lock(mutex_);
  for (const std::uint64_t each : with_rings_) lanes_.find(each)->second.rings.note_heads();
}

// Behind the lane that was cut last time: one that is filled again and again gets a turn, like all.
LaneRings::Done Lanes::take(std::chrono::nanoseconds deadline, const RingShares& shares) {
  LaneRings::Done all;
  if (!has_rings()) return all;
  const MutexLock lock(mutex_);
  const std::size_t first = next_;
  std::vector<std::size_t> held;
  for (std::size_t i = 0; all.all && i < with_rings_.size(); ++i) {
    const std::size_t place = (first + i) % with_rings_.size();
    const Lane& lane = lane_at(place);
    if (shares.is_held && shares.is_held({lane.uid, lane.process})) {
      held.push_back(place);
    } else {
      take_at(place, deadline, shares, all);
    }
  }
  for (const std::size_t place : held) {
    if (ports_.clock.now().monotonic < shares.held_until) {
      take_at(place, shares.held_until, shares, all);
    } else {
      all.all = all.all && lane_at(place).rings.are_taken();
    }
  }
  note_taken(all.records);
  return all;
}

void Lanes::take_at(std::size_t place, std::chrono::nanoseconds deadline, const RingShares& shares,
                    LaneRings::Done& all) {
  Lane& lane = lane_at(place);
  const bool charges = shares.charge && !lane.rings.are_taken();
  const auto begun = charges ? ports_.clock.now().monotonic : std::chrono::nanoseconds(0);
  const auto done = lane.rings.take(into(), deadline);
  all.records += done.records;
  all.all = all.all && done.all;
  if (!done.all) next_ = (place + 1) % with_rings_.size();
  if (!charges) return;
  shares.charge({lane.uid, lane.process}, done.records, ports_.clock.now().monotonic - begun);
}

bool Lanes::has(const Sender& sender, std::uint64_t lane) const {
  const MutexLock lock(mutex_);
  const auto found = lanes_.find(lane);
  return found != lanes_.end() && found->second.process == sender.pid;
}

LaneRings::Done Lanes::take_of(const Sender& sender, std::chrono::nanoseconds deadline) {
  LaneRings::Done all;
  if (!has_rings()) return all;
  const MutexLock lock(mutex_);
  const auto [begin, end] = by_process_.equal_range(sender.pid);
  for (auto each = begin; each != end; ++each) {
    LaneRings& rings = lanes_.find(each->second)->second.rings;
    rings.note_heads();
    const auto done = rings.take(into(), deadline);
    all.records += done.records;
    all.all = all.all && done.all;
  }
  note_taken(all.records);
  return all;
}

void Lanes::note_taken(std::uint64_t records) {
  if (records != 0) taken_at_ = ports_.clock.now().monotonic;
}

bool Lanes::are_busy(std::chrono::nanoseconds now) const {
  const MutexLock lock(mutex_);
  return now - taken_at_ < kBusyFor;
}

// No record comes behind it.
void Lanes::take_the_rest(Lane& lane) {
  lane.rings.note_heads();
  (void)lane.rings.take(into(), std::chrono::nanoseconds::max());
}

std::vector<std::string> Lanes::take_saturated() {
  const MutexLock lock(mutex_);
  return std::exchange(saturated_, {});
}

void Lanes::publish_ring_counts(Moment now) {
  OwnNumbers& own = ports_.statistics.own();
  const auto publish = [&](std::atomic<std::uint64_t>& counted, Own what) {
    const std::uint64_t count = counted.exchange(0, std::memory_order_relaxed);
    if (count != 0) own.count(what, count, now);
  };
  publish(counts_->taken, Own::kRingSamples);
  publish(counts_->lost, Own::kRejects);
  publish(counts_->dropped, Own::kLaneDropped);
  if (!has_rings() && rings_shown_ == 0) return;
  const MutexLock lock(mutex_);
  std::size_t rings = 0;
  for (const std::uint64_t each : with_rings_) rings += lanes_.find(each)->second.rings.size();
  if (rings == rings_shown_.exchange(rings)) return;
  own.record(Own::kRings, static_cast<std::int64_t>(rings), 1, now);
}

}  // namespace tallyfs
