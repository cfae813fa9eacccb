#include "feeders/text/series_log.h"

#include <string_view>

#include "core/base/text.h"

namespace tallyfs {
namespace {

std::string with_name(std::uint64_t count, std::string_view text, std::string_view name) {
  constexpr std::size_t kNameShownMax = 120;
  std::string line = std::to_string(count);
  line.append(text);
  append_escaped(line, name, kNameShownMax, 0);
  return line;
}

}  // namespace

std::vector<std::string> SeriesLog::take(const SeriesBounds& bounds, std::uint64_t overflowed,
                                         std::chrono::nanoseconds now) {
  std::vector<std::string> lines;
  if (const auto count = given_up_.take(bounds.given_up(), now); count != 0) {
    lines.push_back(with_name(
        count, " " + what_ + " that were unused for an hour gave way to new ones; the last: ",
        bounds.last_given_up()));
  }
  if (const auto count = overflowed_.take(overflowed, now); count != 0) {
    const bool is_long = bounds.last_overflow() == SeriesBounds::Overflow::kLongName;
    const std::string why = is_long ? "with their labels names have over 255 bytes"
                                    : "--series-per-name-max or --series-max statistics are in use";
    lines.push_back(with_name(count, " samples went to NAME{*}: " + why + "; the last NAME: ",
                              bounds.last_overflowed()));
  }
  return lines;
}

}  // namespace tallyfs
