#include "feeders/log/settled.h"

#include <algorithm>

#include "core/base/clock.h"
#include "tally/statistic.hpp"

namespace tallyfs::logs {

// What was sent is the kernel's or the daemon's, and what is in cells and rings is in shared
// memory.
bool Settled::is_safe(bool has_samples) const {
  return lines_ == 0 && (!has_samples || tally::counts().held == 0);
}

void Settled::note_safe() {
  if (++safe_lines_ >= kLinesMax) lines_max_ = 1;
}

void Settled::store(PositionRecord* record, std::uint64_t offset, bool has_samples) {
  if (!positions_) return;
  if (is_safe(has_samples)) {
    if (record) record->store(offset);
    return note_safe();
  }
  if (record) note(*record, offset);
  wait();
}

void Settled::store_cursor(std::string_view cursor, bool has_samples) {
  if (!positions_) return;
  if (is_safe(has_samples)) {
    positions_->store_cursor(cursor);
    return note_safe();
  }
  cursor_ = cursor;
  wait();
}

void Settled::note(PositionRecord& record, std::uint64_t offset) {
  const auto found =
      std::ranges::find(pending_, &record, &std::pair<PositionRecord*, std::uint64_t>::first);
  if (found != pending_.end()) {
    found->second = offset;
  } else {
    pending_.emplace_back(&record, offset);
  }
}

void Settled::wait() {
  if (lines_ == 0) since_ = SystemClock::monotonic();
  lines_ += 1;
  safe_lines_ = 0;
  positions_->set_lines_ahead(lines_);
  if (lines_ < lines_max_) return;
  lines_max_ = std::min(2 * lines_max_, kLinesMax);
  settle();
}

bool Settled::is_due() const {
  return lines_ != 0 && SystemClock::monotonic() - since_ >= kTimeMax;
}

void Settled::settle() {
  if (lines_ == 0) return;
  if (!confirm_()) return;
  for (const auto& [record, offset] : pending_) record->store(offset);
  if (!cursor_.empty()) positions_->store_cursor(cursor_);
  pending_.clear();
  cursor_.clear();
  lines_ = 0;
  positions_->set_lines_ahead(0);
}

}  // namespace tallyfs::logs
