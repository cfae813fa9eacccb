#include "feeders/log/position_committer.h"

#include <algorithm>

#include "core/base/clock.h"

namespace tallyfs::logs {

// Samples that were sent are with the kernel or the daemon, and samples in cells and rings are in
// shared memory: they survive this process.
bool PositionCommitter::is_safe(bool has_sent) const {
  if (!positions_.is_kept()) return true;
  return lines_ == 0 && (!has_sent || !holds_());
}

void PositionCommitter::count_safe() {
  if (++safe_lines_ >= kLinesMax) lines_max_ = 1;
}

void PositionCommitter::store(PositionRecord* record, std::uint64_t offset, bool has_sent) {
  if (is_safe(has_sent)) {
    if (record) record->store(offset);
    return count_safe();
  }
  if (record) pending_of(*record).offset = offset;
  wait();
}

void PositionCommitter::begin_again(PositionRecord& record, const CountedPart& before) {
  if (is_safe(true)) return record.begin_again(before);
  pending_of(record) = {.record = &record, .before_cut = before};
  wait();
}

// A file is not known again by what comes after its offset.
void PositionCommitter::keep(PositionRecord& record, const Checkpoint& checkpoint,
                             std::string_view head) {
  Pending* const pending = find_pending(record);
  if ((pending ? pending->offset : record.offset()) < checkpoint.offset) return;
  if (pending) {
    pending->checkpoint = checkpoint;
    pending->head = head;
  } else {
    record.store(checkpoint);
    record.store_head(head);
  }
}

void PositionCommitter::store_cursor(std::string_view cursor, bool has_sent) {
  if (is_safe(has_sent)) {
    positions_.store_cursor(cursor);
    return count_safe();
  }
  cursor_ = cursor;
  wait();
}

PositionCommitter::Pending* PositionCommitter::find_pending(const PositionRecord& record) {
  const auto found = std::ranges::find(pending_, &record, &Pending::record);
  return found == pending_.end() ? nullptr : &*found;
}

PositionCommitter::Pending& PositionCommitter::pending_of(PositionRecord& record) {
  Pending* const found = find_pending(record);
  return found ? *found : pending_.emplace_back(Pending{.record = &record});
}

void PositionCommitter::store(const Pending& pending) {
  if (pending.before_cut) pending.record->begin_again(*pending.before_cut);
  pending.record->store(pending.offset);
  if (!pending.checkpoint) return;
  pending.record->store(*pending.checkpoint);
  pending.record->store_head(pending.head);
}

void PositionCommitter::wait() {
  if (lines_ == 0) since_ = SystemClock::monotonic();
  lines_ += 1;
  safe_lines_ = 0;
  positions_.set_lines_ahead(lines_);
  if (lines_ < lines_max_) return;
  lines_max_ = std::min(2 * lines_max_, kLinesMax);
  // If it is in vain the lines wait on.
  (void)commit();
}

bool PositionCommitter::is_due() const {
  return lines_ != 0 && SystemClock::monotonic() - since_ >= kTimeMax;
}

bool PositionCommitter::commit() {
  if (lines_ == 0) return true;
  if (!confirm_()) return false;
  for (const Pending& pending : pending_) store(pending);
  if (!cursor_.empty()) positions_.store_cursor(cursor_);
  pending_.clear();
  cursor_.clear();
  lines_ = 0;
  positions_.set_lines_ahead(0);
  return true;
}

}  // namespace tallyfs::logs
