#include "feeders/intake/lanes.h"

#include <algorithm>
#include <iterator>
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

// Says what was read, and what was allowed.
std::string words_of(const LaneFinding& finding) {
  std::string words = ": read " + std::to_string(finding.read);
  words.append(", allowed ").append(std::to_string(finding.allowed));
  return words.append(", era ").append(std::to_string(finding.era));
}

}  // namespace

Result<void> Lanes::check_room(uid_t uid) const {
  const std::uint64_t most = reserve_.limit_for(uid, kLanesMax);
  if (lanes_.size() >= most) return no_room(most, "");
  if (ownership_.is_trusted(uid)) return {};
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
  return std::make_shared<CellCredit>(dependencies_.clock, credit_);
}

Result<Lanes::Made> Lanes::make(const Sender& sender, std::uint64_t bytes, Timestamp now) {
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
  auto reservation =
      Reservation::create(dependencies_.ledger, sender.uid, {.bytes = charged(bytes)});
  if (!reservation) return reservation.error();
  const auto file = LaneFile::create(static_cast<std::uint32_t>(bytes),
                                     {.ledger = dependencies_.ledger,
                                      .reservation = std::move(reservation.value()),
                                      .credit = credit_of(sender.uid)},
                                     whose(sender.uid), counts_);
  if (!file) return file.error();
  if (auto watched = dependencies_.processes.watch(sender.pid, sender.uid); !watched) {
    return watched.error();
  }
  if (keeper_ && keeper_->descriptors().add(file.value()->fd()) == TransferredFds::kNone) {
    return Error{ErrorCode::kNoSpace, "the keeper has no room for one more lane"};
  }
  const auto number = enter(sender, file.value(), now);
  if (!number && keeper_) keeper_->descriptors().remove(file.value()->fd());
  if (!number) return number.error();
  if (keeper_) keeper_->write_through(*this);
  // One that has ended meanwhile was perhaps heard of before the lane was there.
  if (!dependencies_.processes.watches(sender.pid)) forget(number.value(), now);
  return Made{number.value(), file.value()};
}

Result<std::uint64_t> Lanes::enter(const Sender& sender, std::shared_ptr<LaneFile> file,
                                   Timestamp now) {
  const MutexLock lock(mutex_);
  if (auto room = check_room(sender.uid); !room) return room.error();
  file->be_lane(++last_number_);
  lanes_.emplace(last_number_, Lane(sender.pid, sender.uid, std::move(file)));
  note_size(now);
  return last_number_;
}

Result<void> Lanes::bind(const Sender& sender, const wire::Binding& binding) {
  std::string label, bytes;
  const auto done = bind_here(sender, binding, label, bytes);
  if (!bytes.empty()) {
    keeper_->put(saved_object(SavedKind::kLaneBindings, kBindingsFormat, label, bytes));
    // Its feeder may have ended meanwhile, and a save have removed what was not put yet.
    if (!has(binding.lane)) keeper_->remove(SavedKind::kLaneBindings, label);
  }
  return done;
}

// Binds, and gives what is written through if there is a keeper.
Result<void> Lanes::bind_here(const Sender& sender, const wire::Binding& binding,
                              std::string& label, std::string& bytes) {
  const MutexLock lock(mutex_);
  const auto found = lanes_.find(binding.lane);
  if (found == lanes_.end() || found->second.process != sender.pid || found->second.has_ended) {
    return Error{ErrorCode::kNotFound, "this process has no such lane"};
  }
  if (binding.id >= kLaneIdsMax) return Error{ErrorCode::kInvalid, "an id beyond the indexes"};
  Lane& lane = found->second;
  if (!lane.file->keeps_its_pages()) return not_sealed();
  if (lane.bound.size() >= bound_max(*lane.file)) {
    return Error{ErrorCode::kNoSpace, "the lane has cells of too many statistics"};
  }
  auto done = dependencies_.statistics.bind_cells(binding.number, lane.file, binding.id);
  if (!done) return done;
  const std::size_t before = lane.bound.size();
  lane.note_bound({binding.number, binding.id},
                  dependencies_.statistics.subject_of(binding.number));
  if (keeper_ && lane.bound.size() != before) {
    label = label_of_bindings(binding.lane, before / kBindingsAtOnce);
    bytes = bytes_of_bindings(binding.lane, lane, before / kBindingsAtOnce);
  }
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
void Lanes::forget(std::uint64_t lane, Timestamp now) {
  const MutexLock lock(mutex_);
  const auto found = lanes_.find(lane);
  if (found == lanes_.end()) return;
  if (keeper_) keeper_->descriptors().remove(found->second.file->fd());
  lanes_.erase(found);
  note_size(now);
}

// Their uids may use the room for others from now on.
void Lanes::keep_ended(std::vector<Numbered>& ended) {
  if (!keeper_) return;
  std::vector<Numbered> left;
  for (Numbered& each : ended) {
    LaneFile& file = *each.second.file;
    file.release_room();
    const bool has_room =
        ended_.size() < kLanesMax && ended_bytes_ + file.bytes() <= kEndedBytesMax;
    if (has_room) {
      ended_bytes_ += file.bytes();
      ended_.push_back(std::move(each));
    } else {
      left.push_back(std::move(each));
    }
  }
  ended = std::move(left);
}

// A kill before all is saved loses what was counted in them. The bindings go before the files: a
// statistic that is saved later does not say any more that it has taken their cells.
void Lanes::let_go(const std::vector<Numbered>& ended) {
  if (!keeper_) return;
  for (const Numbered& each : ended) {
    for (const std::string& label : labels_of_bindings(each)) {
      keeper_->remove(SavedKind::kLaneBindings, label);
    }
    remove_descriptors(each.second, keeper_->descriptors());
  }
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

bool Lanes::process_ended(pid_t process, Timestamp now, std::chrono::nanoseconds deadline) {
  std::vector<Numbered> ended;
  std::vector<std::string> faults;
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
      report_bad(its->second, now, faults);
      ended.emplace_back(its->first, std::move(its->second));
      lanes_.erase(its);
    }
    if (!ended.empty()) {
      has_dropped_ = !dropped_.empty();
      note_with_rings();
      note_size(now);
    }
    keep_ended(ended);
  }
  let_go(ended);
  log_bad(faults, now);
  return true;
}

// Reads the places of one file, or the cells of one id, at least. The others are read like all
// others until their turn comes. The next server is told of all bindings, as some statistics may be
// saved that have not taken their cells; the others know which they have taken.
bool Lanes::absorb(pid_t process, Timestamp now, std::chrono::nanoseconds deadline) {
  const auto is_late = [&] { return dependencies_.clock.now().monotonic >= deadline; };
  bool is_first = true;
  for (auto& [number, lane] : lanes_) {
    // Places are those of bound statistics: without one there are none to look for.
    if (lane.process != process || lane.absorbed == lane.bound.size()) continue;
    if (!is_first && is_late()) return false;
    if (!std::exchange(lane.has_ended, true)) {
      lane.file->end();
      std::ranges::sort(lane.bound, {}, &Bound::number);
      is_first = false;
    }
    for (; lane.absorbed != lane.bound.size(); is_first = false) {
      if (!is_first && is_late()) return false;
      const auto end = lane.bound.end() - static_cast<std::ptrdiff_t>(lane.absorbed);
      const std::uint64_t of = std::prev(end)->number;
      if (!dependencies_.statistics.absorb_cells(of, lane.file.get(), now, is_late)) return false;
      const auto its = std::ranges::lower_bound(lane.bound.begin(), end, of, {}, &Bound::number);
      lane.absorbed += static_cast<std::size_t>(end - its);
    }
  }
  return true;
}

void Lanes::publish_counts(Timestamp now, DropClaims& claims) {
  DaemonCounters& counters = dependencies_.statistics.counters();
  const std::uint64_t merged = LaneCounts::take(counts_->merged);
  const std::uint64_t not_read = LaneCounts::take(counts_->not_read);
  if (merged != 0) counters.count("cells_merged", merged, now);
  if (not_read != 0) counters.count("drains_cut", not_read, now);
  publish_ring_counts(now);
  publish_dropped(now, claims);
  const std::uint64_t bad = LaneCounts::take(counts_->bad);
  if (bad == 0) return;
  counters.count("lane_bad", bad, now);
  report_bad(now);
}

void Lanes::report_bad(Timestamp now) {
  std::vector<std::string> faults;
  {
    const MutexLock lock(mutex_);
    for (auto& [number, lane] : lanes_) report_bad(lane, now, faults);
  }
  log_bad(faults, now);
}

void Lanes::report_bad(Lane& lane, Timestamp now, std::vector<std::string>& lines) {
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
    dependencies_.errors.report({ErrorLog::Source::kSocket, lane.uid}, where, file,
                                Error{ErrorCode::kInvalid, reason}, now);
    lines.push_back(where.append(": ").append(reason).append(" ").append(file));
  }
}

// Feeders that come and go must not fill the disk; `lane_bad` counts all.
void Lanes::log_bad(const std::vector<std::string>& lines, Timestamp now) {
  if (lines.empty()) return;
  {
    const MutexLock lock(mutex_);
    if (now.monotonic - bad_logged_ < kLogPause) return;
    bad_logged_ = now.monotonic;
  }
  for (const std::string& each : lines) log_warning(each);
}

// How many there are now.
void Lanes::note_size(Timestamp now) {
  dependencies_.statistics.counters().record("lanes", static_cast<std::int64_t>(lanes_.size()), 1,
                                             now);
}

}  // namespace tallyfs
