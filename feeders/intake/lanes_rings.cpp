// Lanes read the rings of all feeders.
#include <algorithm>
#include <string>
#include <utility>

#include "core/base/saturating.h"
#include "feeders/intake/lanes.h"

namespace tallyfs {
namespace {

// Names of interfaces kept for the log.
constexpr std::size_t kSaturatedMax = 8;

}  // namespace

Result<Lanes::Tails> Lanes::tails(const Sender& sender, std::uint64_t lane) {
  const auto page = make_tails(sender, lane);
  if (page && keeper_) keeper_->write_through(*this);
  return page;
}

Result<Lanes::Tails> Lanes::make_tails(const Sender& sender, std::uint64_t lane) {
  const MutexLock lock(mutex_);
  const auto found = lanes_.find(lane);
  if (found == lanes_.end() || found->second.process != sender.pid) {
    return Error{ErrorCode::kNotFound, "this process has no such lane"};
  }
  if (!found->second.file->keeps_its_pages()) return not_sealed();
  const auto page = found->second.rings.tails();
  if (!page) return page.error();
  if (keeper_ && keeper_->descriptors().add(page.value()->fd()) == TransferredFds::kNone) {
    return Error{ErrorCode::kNoSpace, "the keeper has no room for the rings of one more lane"};
  }
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

LaneRings::Into Lanes::into(const std::atomic<int>* wanted) {
  if (saturated_.size() > kSaturatedMax) saturated_.resize(kSaturatedMax);
  return {dependencies_.statistics, dependencies_.counter, dependencies_.clock, saturated_, wanted};
}

void Lanes::ring(std::uint64_t number, Lane& lane) {
  if (!std::exchange(lane.has_rung, true)) rung_.push_back(number);
}

bool Lanes::note_bell(const Sender& sender, std::uint64_t lane) {
  const MutexLock lock(mutex_);
  const auto found = lanes_.find(lane);
  if (found == lanes_.end() || found->second.process != sender.pid) return false;
  ring(lane, found->second);
  return true;
}

bool Lanes::note_heads(Which which, const InterfaceFilter& of) {
  if (!has_rings()) return true;
  const MutexLock lock(mutex_);
  hear(of);
  const bool takes_cycles = dependencies_.counter && dependencies_.counter->line().rate != 0;
  for (const std::uint64_t each : which == Which::kAll ? with_rings_ : heard_) {
    Lane& lane = lane_of(each);
    if (!lane.is_of(of)) continue;
    lane.rings.publish_clock(takes_cycles);
    lane.rings.note_heads();
  }
  return rung_.empty();
}

std::vector<RingSchedule::Rings> Lanes::filled_rings(Which which, const InterfaceFilter& of) {
  std::vector<RingSchedule::Rings> filled;
  if (!has_rings()) return filled;
  const MutexLock lock(mutex_);
  for (const std::uint64_t each : which == Which::kAll ? with_rings_ : heard_) {
    const Lane& lane = lane_of(each);
    if (!lane.is_of(of)) continue;
    const std::uint64_t words = lane.rings.words_left();
    if (words == 0) continue;
    filled.push_back(
        {.lane = each, .sender = {ownership_, lane.uid, lane.process}, .words = words});
  }
  return filled;
}

void Lanes::note_read(const statistics::RingSlice& slice, std::uint64_t samples) {
  const MutexLock lock(mutex_);
  const auto found = lanes_.find(slice.lane);
  if (found != lanes_.end()) found->second.rings.note_read(slice, samples);
}

LaneRings::Done Lanes::read_rings(std::uint64_t lane, std::chrono::nanoseconds deadline,
                                  const std::atomic<int>* wanted) {
  const MutexLock lock(mutex_);
  const auto found = lanes_.find(lane);
  if (found == lanes_.end()) return {};  // its process has ended meanwhile
  const auto done = found->second.rings.take(into(wanted), deadline);
  note_taken(done.records);
  return done;
}

void Lanes::finish_rings(const RingSchedule::Cuts& cuts, Which which, const InterfaceFilter& of) {
  if (!has_rings()) return;
  const MutexLock lock(mutex_);
  std::vector<std::uint64_t>& all = which == Which::kAll ? with_rings_ : heard_;
  if (cuts.first_turn || !cuts.later_turns.empty()) {
    std::vector<std::uint64_t> some = lanes_of(all, of);
    cuts.order(some);
    put_back(some, of, all);
  }
  ring_again();
}

LaneRings::Done Lanes::take(std::chrono::nanoseconds deadline, Which which,
                            const InterfaceFilter& of) {
  LaneRings::Done all;
  RingSchedule::Cuts cuts;
  for (const RingSchedule::Rings& each : filled_rings(which, of)) {
    const auto done = read_rings(each.lane, deadline);
    all.records += done.records;
    all.all = done.all;
    if (done.all) continue;
    cuts.first_turn = each.lane;
    break;
  }
  finish_rings(cuts, which, of);
  return all;
}

std::vector<std::uint64_t> Lanes::lanes_of(const std::vector<std::uint64_t>& lanes,
                                           const InterfaceFilter& of) {
  std::vector<std::uint64_t> some;
  for (const std::uint64_t each : lanes) {
    if (lane_of(each).is_of(of)) some.push_back(each);
  }
  return some;
}

void Lanes::put_back(const std::vector<std::uint64_t>& some, const InterfaceFilter& of,
                     std::vector<std::uint64_t>& lanes) {
  auto next = some.begin();
  for (std::uint64_t& each : lanes) {
    if (lane_of(each).is_of(of)) each = *next++;
  }
}

bool Lanes::has_rung() const {
  const MutexLock lock(mutex_);
  return !rung_.empty();
}

// Where nothing was taken since the last bells, as a definition looks at heads in the middle of a
// turn, these are heard, too.
void Lanes::hear(const InterfaceFilter& of) {
  const bool has_more = !heard_.empty();
  std::vector<std::uint64_t> others;
  for (const std::uint64_t each : rung_) {
    Lane& lane = lane_of(each);
    lane.has_rung = !lane.is_of(of);
    (lane.has_rung ? others : heard_).push_back(each);
  }
  rung_ = std::move(others);
  if (!has_more) return;
  std::ranges::sort(heard_);
  heard_.erase(std::unique(heard_.begin(), heard_.end()), heard_.end());
}

void Lanes::ring_again() {
  for (const std::uint64_t each : heard_) {
    if (Lane& lane = lane_of(each); !lane.rings.are_taken()) ring(each, lane);
  }
  heard_.clear();
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
  if (records != 0) taken_at_ = dependencies_.clock.now().monotonic;
}

bool Lanes::are_busy(std::chrono::nanoseconds now) const {
  const MutexLock lock(mutex_);
  return now - taken_at_ < kBusyFor;
}

bool Lanes::take_the_rest(pid_t process, std::chrono::nanoseconds deadline) {
  bool all = true;
  for (auto& [number, lane] : lanes_) {
    if (lane.process != process) continue;
    lane.rings.end();
    all = all && lane.rings.take(into(), deadline).all;
  }
  return all;
}

std::vector<std::string> Lanes::take_saturated() {
  const MutexLock lock(mutex_);
  return std::exchange(saturated_, {});
}

void Lanes::note_dropped(Lane& lane) {
  const std::uint64_t more = lane.rings.take_dropped();
  if (more != 0) add_saturating(dropped_[lane.uid], more);
}

Lanes::Dropped Lanes::take_dropped() {
  if (!has_rings() && !has_dropped_.exchange(false)) return {};
  const MutexLock lock(mutex_);
  for (const std::uint64_t each : with_rings_) note_dropped(lane_of(each));
  return std::exchange(dropped_, {});
}

// A number that a feeder makes up, as what it says of datagrams.
void Lanes::publish_dropped(Timestamp now, DropClaims& claims) {
  DaemonCounters& counters = dependencies_.statistics.counters();
  for (const auto& [uid, claimed] : take_dropped()) {
    const std::uint64_t counts = claims.take(uid, claimed);
    counters.count("lane_dropped", counts, now);
    if (counts == claimed) continue;
    counters.count("rejects", 1, now);
    dependencies_.errors.report({ErrorLog::Source::kSocket, uid},
                                "lanes of uid " + std::to_string(uid), "(dropped samples)",
                                DropClaims::too_many(), now);
  }
}

void Lanes::publish_ring_counts(Timestamp now) {
  DaemonCounters& counters = dependencies_.statistics.counters();
  const auto publish = [&](std::atomic<std::uint64_t>& counted, DaemonCounter what) {
    const std::uint64_t count = LaneCounts::take(counted);
    if (count != 0) counters.count(what, count, now);
  };
  publish(counts_->taken, "ring_samples");
  publish(counts_->lost, "rejects");
  if (!has_rings() && rings_shown_ == 0) return;
  const MutexLock lock(mutex_);
  std::size_t rings = 0;
  for (const std::uint64_t each : with_rings_) rings += lane_of(each).rings.size();
  if (rings == rings_shown_.exchange(rings)) return;
  counters.record("rings", static_cast<std::int64_t>(rings), 1, now);
}

}  // namespace tallyfs
