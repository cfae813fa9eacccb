#include "tools/ctl/reading_report.h"

#include <utility>

#include "tools/ctl/commands.h"
#include "tools/ctl/session.h"

namespace tallyfs {

std::optional<int> ReadingReport::take(const Result<void>& done) {
  const bool is_first = !std::exchange(has_tried_, true);
  if (done) {
    has_read_ = true;
    if (!std::exchange(unread_, {}).empty()) {
      complain(kDone, "the mount can be read again, and is recorded");
    }
    return std::nullopt;
  }
  if (is_first && done.error().code != ErrorCode::kTimedOut) return complain(done.error());
  if (unread_.empty()) {
    unread_ = done.error().reason;
    complain(kDone, "nothing is recorded: " + unread_);
  }
  return std::nullopt;
}

int ReadingReport::status() const { return has_read_ ? kDone : kNoAnswer; }

}  // namespace tallyfs
