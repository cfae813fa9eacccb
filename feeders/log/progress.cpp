#include "feeders/log/progress.h"

#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "program/log.h"
#include "tally/statistic.hpp"

namespace tallyfs::logs {
namespace {

void log_with_name(std::uint64_t count, std::string_view text, std::string_view name) {
  constexpr std::size_t kNameShownMax = 120;
  std::string line = std::to_string(count);
  line.append(text);
  append_escaped(line, name, kNameShownMax, 0);
  log_warning(line);
}

}  // namespace

std::uint64_t Progress::dropped() { return tally::counts().dropped; }

bool Progress::is_unpublished() const {
  return lines_.counts() != published_lines_ || files_ != published_files_ ||
         dropped() != published_dropped_;
}

bool Progress::is_due() const { return SystemClock::monotonic() >= due_at(); }

void Progress::publish() {
  if (!is_unpublished()) return;
  published_at_ = SystemClock::monotonic();
  published_lines_ = lines_.counts();
  published_files_ = files_;
  published_dropped_ = dropped();
  own_.publish(published_lines_, files_, published_dropped_);
  log_growth();
}

void Progress::log_growth() {
  const LineCounts& lines = published_lines_;
  if (const auto names = given_up_log_.take(lines.names_given_up, published_at_); names != 0) {
    log_with_name(names,
                  " statistics that were unused for an hour gave way to new ones; the last: ",
                  lines_.book().last_given_up());
  }
  if (const auto samples = overflowed_log_.take(lines.overflowed, published_at_); samples != 0) {
    log_with_name(samples,
                  " samples went to NAME{*}: --series-per-name-max or --series-max statistics are "
                  "in use; the last NAME: ",
                  lines_.book().last_overflowed());
  }
  if (const auto undated = undated_log_.take(lines.undated, published_at_); undated != 0) {
    log_warning(std::to_string(undated) + " lines count as of now: their time is older than 23 h " +
                "or than the boot, is still to come, or is not of the format");
  }
}

}  // namespace tallyfs::logs
