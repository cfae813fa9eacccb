#include "feeders/text/refusal_log.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace tallyfs {

namespace {

// All of it: an escape has four bytes.
void append_whole(std::string& out, std::string_view text) {
  append_escaped(out, text, 4 * text.size(), 0);
}

}  // namespace

std::string to_text(const RefusedPlace& place, std::string_view line) {
  constexpr std::size_t kBeforeMax = 120;
  constexpr std::size_t kAfterMax = 80;
  constexpr std::size_t kSourceMax = 500;
  const std::size_t at = std::min(place.at, line.size());
  const std::size_t begin = at > kBeforeMax ? at - kBeforeMax : 0;
  std::string text;
  append_escaped(text, place.source, kSourceMax, 0);
  text.append(": ").append(place.reason).append(": ").append(place.text).append(": ");
  append_whole(text, line.substr(begin, at - begin));
  text.append(" -->");
  append_whole(text, line.substr(at, kAfterMax));
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

std::string RefusalLog::take_left_out() {
  const std::uint64_t left_out = std::exchange(left_out_, 0);
  return left_out == 0 ? "" : " (and " + std::to_string(left_out) + " more before)";
}

}  // namespace tallyfs
