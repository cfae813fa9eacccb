// What the lanes do with the rings of all feeders.
#include <algorithm>
#include <string>
#include <utility>

#include "core/base/saturating.h"
#include "feeders/intake/lanes.h"

namespace tallyfs {
namespace {

using Turn = RingShares::Turn;

// Names of interfaces kept for the log.
constexpr std::size_t kSaturatedMax = 8;

}  // namespace

Result<Lanes::Tails> Lanes::tails(const Sender& sender, std::uint64_t lane) {
  const MutexLock lock(mutex_);
  const auto found = lanes_.find(lane);
  if (found == lanes_.end() || found->second.process != sender.pid) {
    return Error{ErrorCode::kNotFound, "this process has no such lane"};
  }
  if (!found->second.file->keeps_its_pages()) return not_sealed();
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

LaneRings::Into Lanes::into(const std::atomic<int>* wanted) {
  if (saturated_.size() > kSaturatedMax) saturated_.resize(kSaturatedMax);
  return {ports_.statistics, ports_.counter, ports_.clock, saturated_, wanted};
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

bool Lanes::note_heads(Which which, const Subjects& of) {
  if (!has_rings()) return true;
  const MutexLock lock(mutex_);
  hear(of);
  for (const std::uint64_t each : which == Which::kAll ? with_rings_ : heard_) {
    if (Lane& lane = lane_of(each); lane.is_of(of)) lane.rings.note_heads();
  }
  return rung_.empty();
}

LaneRings::Done Lanes::take(std::chrono::nanoseconds deadline, const RingShares& shares,
                            Which which, const Subjects& of) {
  LaneRings::Done all;
  if (!has_rings()) return all;
  const MutexLock lock(mutex_);
  std::vector<std::uint64_t>& those = which == Which::kAll ? with_rings_ : heard_;
  std::vector<std::uint64_t> some;
  if (!of.are_anything()) some = lanes_of(those, of);
  std::vector<std::uint64_t>& lanes = of.are_anything() ? those : some;
  const Words words = words_of_long(lanes, shares.few_words);
  std::size_t cut = 0;  // before this place
  std::vector<Late> late;
  for (std::size_t i = 0; all.all && i < lanes.size(); ++i) {
    Lane& lane = lane_of(lanes[i]);
    const auto its = words.empty() ? words.end() : words.find(sender_of(lane));
    if (shares.is_held && shares.is_held({lane.uid, lane.process})) {
      late.push_back({.turn = Turn::kHeld, .place = i});
    } else if (its != words.end()) {
      late.push_back({.turn = Turn::kLong, .words = its->second, .place = i});
    } else if (!take_from(lane, Turn::kFirst, deadline, shares, all)) {
      cut = i + 1;
    }
  }
  std::ranges::stable_sort(late, {},
                           [](const Late& each) { return std::pair(each.turn, each.words); });
  for (const Late& each : late) {
    if (!take_late(lane_of(lanes[each.place]), each.turn, shares, all)) cut = each.place + 1;
  }
  // One that is filled again and again gets a turn, like all.
  std::rotate(lanes.begin(), lanes.begin() + static_cast<std::ptrdiff_t>(cut), lanes.end());
  if (cut != 0 && !of.are_anything()) put_back(some, of, those);
  ring_again();
  note_taken(all.records);
  return all;
}

std::vector<std::uint64_t> Lanes::lanes_of(const std::vector<std::uint64_t>& lanes,
                                           const Subjects& of) {
  std::vector<std::uint64_t> some;
  for (const std::uint64_t each : lanes) {
    if (lane_of(each).is_of(of)) some.push_back(each);
  }
  return some;
}

void Lanes::put_back(const std::vector<std::uint64_t>& some, const Subjects& of,
                     std::vector<std::uint64_t>& lanes) {
  auto next = some.begin();
  for (std::uint64_t& each : lanes) {
    if (lane_of(each).is_of(of)) each = *next++;
  }
}

std::uint64_t Lanes::sender_of(const Lane& lane) const {
  constexpr std::uint64_t kOneProcess = std::uint64_t{1} << 32;
  if (lane.uid != 0 && lane.uid != owner_) return lane.uid;
  return kOneProcess | static_cast<std::uint32_t>(shown_pid(lane.process));
}

// In most looks there are few words in all rings together.
Lanes::Words Lanes::words_of_long(const std::vector<std::uint64_t>& lanes, std::uint64_t few) {
  Words words;
  if (few == UINT64_MAX) return words;
  std::uint64_t all = 0;
  for (const std::uint64_t each : lanes) all += lane_of(each).rings.words_left();
  if (all <= few) return words;
  for (const std::uint64_t each : lanes) {
    const Lane& lane = lane_of(each);
    words[sender_of(lane)] += lane.rings.words_left();
  }
  boost::unordered::erase_if(words, [few](const auto& each) { return each.second <= few; });
  return words;
}

void Lanes::note_left(Turn turn, bool is_all, LaneRings::Done& all) {
  all.all = all.all && is_all;
  all.is_cut = all.is_cut || (!is_all && turn != Turn::kHeld);
}

bool Lanes::take_late(Lane& lane, RingShares::Turn turn, const RingShares& shares,
                      LaneRings::Done& all) {
  const auto until =
      turn == Turn::kHeld ? shares.held_until : shares.long_until({lane.uid, lane.process});
  if (ports_.clock.now().monotonic < until) return take_from(lane, turn, until, shares, all);
  note_left(turn, lane.rings.are_taken(), all);
  return true;
}

bool Lanes::has_rung() const {
  const MutexLock lock(mutex_);
  return !rung_.empty();
}

// Where nothing was taken since the last bells, as a definition looks at heads in the middle of a
// turn, these are heard, too.
void Lanes::hear(const Subjects& of) {
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

bool Lanes::take_from(Lane& lane, RingShares::Turn turn, std::chrono::nanoseconds deadline,
                      const RingShares& shares, LaneRings::Done& all) {
  const std::uint64_t words = lane.rings.words_left();
  const bool charges = shares.charge && words != 0;
  if (shares.before_long && words + 2 * all.records > kFewRingWords) shares.before_long();
  const auto begun = charges ? ports_.clock.now().monotonic : std::chrono::nanoseconds(0);
  const auto done = lane.rings.take(into(shares.wanted), deadline);
  all.records += done.records;
  note_left(turn, done.all, all);
  if (charges) {
    const auto spent = ports_.clock.now().monotonic - begun;
    shares.charge({lane.uid, lane.process}, turn, done.records, spent);
  }
  return done.all;
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
    note_left(Turn::kFirst, done.all, all);
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
void Lanes::publish_dropped(Moment now, DropClaims& claims) {
  DaemonCounters& counters = ports_.statistics.counters();
  for (const auto& [uid, claimed] : take_dropped()) {
    const std::uint64_t counts = claims.take(uid, claimed);
    counters.count(DaemonCounter::kLaneDropped, counts, now);
    if (counts == claimed) continue;
    counters.count(DaemonCounter::kRejects, 1, now);
    ports_.errors.report({ErrorLog::Source::kSocket, uid}, "lanes of uid " + std::to_string(uid),
                         "(dropped samples)", DropClaims::too_many(), now);
  }
}

void Lanes::publish_ring_counts(Moment now) {
  DaemonCounters& counters = ports_.statistics.counters();
  const auto publish = [&](std::atomic<std::uint64_t>& counted, DaemonCounter what) {
    const std::uint64_t count = LaneCounts::take(counted);
    if (count != 0) counters.count(what, count, now);
  };
  publish(counts_->taken, DaemonCounter::kRingSamples);
  publish(counts_->lost, DaemonCounter::kRejects);
  if (!has_rings() && rings_shown_ == 0) return;
  const MutexLock lock(mutex_);
  std::size_t rings = 0;
  for (const std::uint64_t each : with_rings_) rings += lane_of(each).rings.size();
  if (rings == rings_shown_.exchange(rings)) return;
  counters.record(DaemonCounter::kRings, static_cast<std::int64_t>(rings), 1, now);
}

}  // namespace tallyfs
