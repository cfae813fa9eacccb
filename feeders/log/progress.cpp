#include "feeders/log/progress.h"

#include <string>

#include "core/base/clock.h"
#include "program/log.h"
#include "tally/statistic.hpp"

namespace tallyfs::logs {

UncountedSamples Progress::uncounted() {
  const auto counts = tally::counts();
  return {counts.dropped, counts.lost};
}

bool Progress::is_unpublished() const {
  return lines_.counts() != published_lines_ || files_ != published_files_ ||
         uncounted() != published_uncounted_;
}

bool Progress::is_due() const { return SystemClock::monotonic() >= due_at(); }

void Progress::publish() {
  if (!is_unpublished()) return;
  published_at_ = SystemClock::monotonic();
  published_lines_ = lines_.counts();
  published_files_ = files_;
  published_uncounted_ = uncounted();
  own_.publish(published_lines_, files_, published_uncounted_);
  log_growth();
}

void Progress::log_growth() {
  const LineCounts& lines = published_lines_;
  const SeriesBounds& bounds = lines_.book().bounds();
  for (const std::string& line : series_log_.take(bounds, lines.overflowed, published_at_)) {
    log_warning(line);
  }
  if (const auto undated = undated_log_.take(lines.undated, published_at_); undated != 0) {
    log_warning(std::to_string(undated) + " lines count as of now: their time is older than 23 h " +
                "or than the boot, is still to come, or is not of the format");
  }
}

}  // namespace tallyfs::logs
