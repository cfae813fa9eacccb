#include "feeders/statsd/refusal_log.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace tallyfs::statsd {

std::string to_text(const std::string& sender, std::string_view line, const Refusal& refusal) {
  constexpr std::size_t kBeforeMax = 120;
  constexpr std::size_t kBehindMax = 80;
  const std::size_t at = std::min(refusal.at, line.size());
  const std::size_t begin = at > kBeforeMax ? at - kBeforeMax : 0;
  std::string text = sender;
  text.append(": ").append(name_of(refusal.reason)).append(": ").append(refusal.text).append(": ");
  append_escaped(text, line.substr(begin, at - begin), kBeforeMax, 0);
  text.append(" -->");
  append_escaped(text, line.substr(at), kBehindMax, 0);
  return text;
}

bool RefusalLog::may_log(std::chrono::nanoseconds now) {
  if (last_ && now - *last_ < std::chrono::seconds(1)) {
    left_out_ += 1;
    return false;
  }
  last_ = now;
  return true;
}

std::uint64_t RefusalLog::take_left_out() { return std::exchange(left_out_, 0); }

}  // namespace tallyfs::statsd
