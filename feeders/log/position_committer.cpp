#include "feeders/log/position_committer.h"

#include <algorithm>

#include "core/base/clock.h"
#include "tally/statistic.hpp"

namespace tallyfs::logs {

// What was sent is the kernel's or the daemon's, and what is in cells and rings is in shared
// memory.
bool PositionCommitter::is_safe(bool has_sent) const {
  if (!positions_.is_kept()) return true;
  return lines_ == 0 && (!has_sent || tally::counts().held == 0);
}

void PositionCommitter::count_safe() {
  if (++safe_lines_ >= kLinesMax) lines_max_ = 1;
}

void PositionCommitter::store(PositionRecord* record, std::uint64_t offset, bool has_sent) {
  if (is_safe(has_sent)) {
    if (record) record->store(offset);
    return count_safe();
  }
  if (record) add_pending(*record, offset);
  wait();
}

void PositionCommitter::store_cursor(std::string_view cursor, bool has_sent) {
  if (is_safe(has_sent)) {
    positions_.store_cursor(cursor);
    return count_safe();
  }
  cursor_ = cursor;
  wait();
}

void PositionCommitter::add_pending(PositionRecord& record, std::uint64_t offset) {
  const auto found =
      std::ranges::find(pending_, &record, &std::pair<PositionRecord*, std::uint64_t>::first);
  if (found != pending_.end()) {
    found->second = offset;
  } else {
    pending_.emplace_back(&record, offset);
  }
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
  for (const auto& [record, offset] : pending_) record->store(offset);
  if (!cursor_.empty()) positions_.store_cursor(cursor_);
  pending_.clear();
  cursor_.clear();
  lines_ = 0;
  positions_.set_lines_ahead(0);
  return true;
}

}  // namespace tallyfs::logs
