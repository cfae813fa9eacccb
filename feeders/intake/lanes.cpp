#include "feeders/intake/lanes.h"

#include <algorithm>
#include <utility>

#include "core/base/reservation.h"
#include "core/lane/layout.h"
#include "program/log.h"

namespace tallyfs {
namespace {

// No more statistics than there is room for cells.
std::size_t bound_max(const LaneFile& file) { return file.bytes() / sizeof(LaneCell); }

Error no_room(std::size_t most, const std::string& of) {
  return {ErrorCode::kNoSpace, "more than " + std::to_string(most) + " lanes" + of};
}

// What shows the fault.
std::string words_of(const LaneFinding& finding) {
  std::string words = ": read " + std::to_string(finding.read);
  words.append(", allowed ").append(std::to_string(finding.allowed));
  return words.append(", era ").append(std::to_string(finding.era));
}

}  // namespace

Result<void> Lanes::check_room(uid_t uid) const {
  const std::uint64_t most = reserve_.limit_for(uid, kLanesMax);
  if (lanes_.size() >= most) return no_room(most, "");
  if (uid == 0 || uid == owner_) return {};
  const auto its =
      std::ranges::count_if(lanes_, [uid](const auto& each) { return each.second.uid == uid; });
  if (static_cast<std::size_t>(its) < kLanesOfUidMax) return {};
  return no_room(kLanesOfUidMax, " of uid " + std::to_string(uid));
}

// A uid has it as long as it has a lane.
std::shared_ptr<CellCredit> Lanes::credit_of(uid_t uid) const {
  if (reserve_.is_for(uid)) return nullptr;
  const MutexLock lock(mutex_);
  const auto other =
      std::ranges::find_if(lanes_, [uid](const auto& each) { return each.second.uid == uid; });
  if (other != lanes_.end()) return other->second.file->credit();
  return std::make_shared<CellCredit>(ports_.clock, credit_);
}

Result<Lanes::Made> Lanes::make(const Sender& sender, std::uint64_t bytes, Moment now) {
  if (bytes < kLaneBytesMin || bytes > kLaneBytesMax || bytes % 4096 != 0) {
    return Error{ErrorCode::kInvalid, "a lane has from " + std::to_string(kLaneBytesMin) + " to " +
                                          std::to_string(kLaneBytesMax) + " bytes, in pages"};
  }
  if (bytes > LaneFile::kUsersBytesMax && !reserve_.is_for(sender.uid)) {
    return Error{ErrorCode::kNoSpace, "a lane of uid " + std::to_string(sender.uid) + " has " +
                                          std::to_string(LaneFile::kUsersBytesMax) +
                                          " bytes at most"};
  }
  {
    const MutexLock lock(mutex_);
    if (auto room = check_room(sender.uid); !room) return room.error();
  }
  auto reservation = Reservation::create(ports_.ledger, sender.uid, {.bytes = charged(bytes)});
  if (!reservation) return reservation.error();
  const auto file = LaneFile::create(static_cast<std::uint32_t>(bytes),
                                     {.ledger = ports_.ledger,
                                      .reservation = std::move(reservation.value()),
                                      .credit = credit_of(sender.uid)},
                                     whose(sender.uid), counts_);
  if (!file) return file.error();
  if (auto watched = ports_.processes.watch(sender.pid, sender.uid); !watched) {
    return watched.error();
  }
  const auto number = enter(sender, file.value(), now);
  if (!number) return number.error();
  // One that has ended meanwhile was perhaps heard of before the lane was there.
  if (!ports_.processes.watches(sender.pid)) forget(number.value(), now);
  return Made{number.value(), file.value()};
}

Result<std::uint64_t> Lanes::enter(const Sender& sender, std::shared_ptr<LaneFile> file,
                                   Moment now) {
  const MutexLock lock(mutex_);
  if (auto room = check_room(sender.uid); !room) return room.error();
  lanes_.emplace(++last_number_, Lane(sender.pid, sender.uid, std::move(file)));
  note_size(now);
  return last_number_;
}

Result<void> Lanes::bind(const Sender& sender, const wire::Binding& binding) {
  const MutexLock lock(mutex_);
  const auto found = lanes_.find(binding.lane);
  if (found == lanes_.end() || found->second.process != sender.pid) {
    return Error{ErrorCode::kNotFound, "this process has no such lane"};
  }
  if (binding.id >= kLaneIdsMax) return Error{ErrorCode::kInvalid, "an id beyond the indexes"};
  Lane& lane = found->second;
  if (!lane.file->keeps_its_pages()) return not_sealed();
  if (lane.bound.size() >= bound_max(*lane.file)) {
    return Error{ErrorCode::kNoSpace, "the lane has cells of too many statistics"};
  }
  auto done = ports_.statistics.bind_cells(binding.number, lane.file, binding.id);
  if (!done) return done;
  lane.note_bound({binding.number, binding.id}, ports_.statistics.subject_of(binding.number));
  return {};
}

bool Lanes::was_told_full(const wire::Binding& binding) {
  const MutexLock lock(mutex_);
  const auto found = lanes_.find(binding.lane);
  if (found == lanes_.end()) return false;
  Lane& lane = found->second;
  return lane.bound.size() >= bound_max(*lane.file) && std::exchange(lane.is_told_full, true);
}

// In which nothing was counted.
void Lanes::forget(std::uint64_t lane, Moment now) {
  const MutexLock lock(mutex_);
  if (lanes_.erase(lane) != 0) note_size(now);
}

std::optional<uid_t> Lanes::uid_of(pid_t process) const {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find_if(
      lanes_, [process](const auto& each) { return each.second.process == process; });
  if (found == lanes_.end()) return std::nullopt;
  return found->second.uid;
}

bool Lanes::is_ending(pid_t process) const {
  const MutexLock lock(mutex_);
  return std::ranges::any_of(lanes_, [process](const auto& each) {
    return each.second.process == process && each.second.rings.has_ended();
  });
}

bool Lanes::process_ended(pid_t process, Moment now, std::chrono::nanoseconds deadline) {
  std::vector<Lane> ended;
  {
    // Until it is over, no reader finds that there are no rings.
    const MutexLock lock(mutex_);
    if (!take_the_rest(process, deadline) || !absorb(process, now, deadline)) return false;
    for (auto each = lanes_.begin(); each != lanes_.end();) {
      const auto its = each++;
      if (its->second.process != process) continue;
      std::erase(rung_, its->first);
      std::erase(heard_, its->first);
      note_dropped(its->second);
      ended.push_back(std::move(its->second));
      lanes_.erase(its);
    }
    if (!ended.empty()) {
      has_dropped_ = !dropped_.empty();
      note_with_rings();
      note_size(now);
    }
  }
  std::vector<std::string> faults;
  for (Lane& lane : ended) report_bad(lane, now, faults);
  log_bad(faults, now);
  return true;
}

// Reads the places of one file, or the cells of one id, at least. The others stay bound, so that
// they are read like all others until their turn comes, also by the next server.
bool Lanes::absorb(pid_t process, Moment now, std::chrono::nanoseconds deadline) {
  const auto is_late = [&] { return ports_.clock.now().monotonic >= deadline; };
  bool is_first = true;
  for (auto& [number, lane] : lanes_) {
    // Places are those of bound statistics: without one there are none to look for.
    if (lane.process != process || lane.bound.empty()) continue;
    if (!is_first && is_late()) return false;
    if (!std::exchange(lane.has_ended, true)) {
      lane.file->end();
      std::ranges::sort(lane.bound, {}, &Bound::number);
      is_first = false;
    }
    for (; !lane.bound.empty(); is_first = false) {
      if (!is_first && is_late()) return false;
      const std::uint64_t of = lane.bound.back().number;
      if (!ports_.statistics.absorb_cells(of, lane.file.get(), now, is_late)) return false;
      const auto its = std::ranges::lower_bound(lane.bound, of, {}, &Bound::number);
      lane.bound.erase(its, lane.bound.end());
    }
  }
  return true;
}

void Lanes::publish_counts(Moment now, DropClaims& claims) {
  DaemonCounters& counters = ports_.statistics.counters();
  const std::uint64_t merged = LaneCounts::take(counts_->merged);
  const std::uint64_t not_read = LaneCounts::take(counts_->not_read);
  if (merged != 0) counters.count(DaemonCounter::kCellsMerged, merged, now);
  if (not_read != 0) counters.count(DaemonCounter::kDrainsCut, not_read, now);
  publish_ring_counts(now);
  publish_dropped(now, claims);
  const std::uint64_t bad = LaneCounts::take(counts_->bad);
  if (bad == 0) return;
  counters.count(DaemonCounter::kLaneBad, bad, now);
  report_bad(now);
}

void Lanes::report_bad(Moment now) {
  std::vector<std::string> faults;
  {
    const MutexLock lock(mutex_);
    for (auto& [number, lane] : lanes_) report_bad(lane, now, faults);
  }
  log_bad(faults, now);
}

void Lanes::report_bad(Lane& lane, Moment now, std::vector<std::string>& lines) {
  for (; lane.bad_reported < LaneFile::kBadMax; ++lane.bad_reported) {
    const auto fault = lane.file->fault(lane.bad_reported);
    if (!fault) return;
    const bool is_closed = lane.bad_reported + 1 == LaneFile::kBadMax;
    std::string where = "lane pid ";
    where.append(std::to_string(shown_pid(lane.process)));
    where.append(" uid ").append(std::to_string(lane.uid));
    std::string reason = is_closed ? "closed: " : "";
    reason.append("this is not what a feeder writes: ").append(reason_of(fault->what));
    reason.append(words_of(*fault));
    std::string file = "(a lane file, at " + std::to_string(fault->at) + ")";
    ports_.errors.report({ErrorLog::Source::kSocket, lane.uid}, where, file,
                         Error{ErrorCode::kInvalid, reason}, now);
    lines.push_back(where.append(": ").append(reason).append(" ").append(file));
  }
}

// Feeders that come and go must not fill the disk; `lane_bad` counts all.
void Lanes::log_bad(const std::vector<std::string>& lines, Moment now) {
  if (lines.empty()) return;
  {
    const MutexLock lock(mutex_);
    if (now.monotonic - bad_logged_ < kLogPause) return;
    bad_logged_ = now.monotonic;
  }
  for (const std::string& each : lines) log_warning(each);
}

// How many there are now.
void Lanes::note_size(Moment now) {
  has_lanes_.store(!lanes_.empty(), std::memory_order_relaxed);
  ports_.statistics.counters().record(DaemonCounter::kLanes,
                                      static_cast<std::int64_t>(lanes_.size()), 1, now);
}

}  // namespace tallyfs
