#include "tools/ctl/time_span.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "program/duration.h"

namespace tallyfs {
namespace {

constexpr std::uint64_t kSecondUs = 1'000'000;

// The numbers between separators: "12:03:20" by ':' is 12, 3 and 20. Nothing if one is none.
std::optional<std::vector<int>> numbers(std::string_view text, char separator) {
  std::vector<int> made;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    const auto number = parse_unsigned(text.substr(at, end - at));
    if (!number || *number > 9999) return std::nullopt;
    made.push_back(static_cast<int>(*number));
    at = end + 1;
  }
  return made;
}

struct NamedTime {
  std::tm day{};  // its date
  std::uint64_t time_us = 0;
  std::uint64_t length_us = 0;  // of what the text names: a minute, or a second
};

class SpanParser {
 public:
  explicit SpanParser(const Now& now) : now_(now) {}

  Result<past::Span> parse(std::string_view text) const {
    const std::uint64_t last_us = parse_duration(text).value_or(0);
    if (last_us > 0 && last_us < now_.realtime_us) {
      return past::Span{now_.realtime_us - last_us, now_.realtime_us};
    }
    if (text.starts_with('@')) text.remove_prefix(1);
    auto made = parse_times(text);
    if (!made) return made;
    if (made.value().begin_us >= now_.realtime_us) {
      return invalid("'" + std::string(text) + "' has not come yet; \"yesterday " +
                     std::string(text) + "\" is the day before");
    }
    made.value().end_us = std::min(made.value().end_us, now_.realtime_us);
    return made;
  }

 private:
  Result<past::Span> parse_times(std::string_view text) const {
    const std::size_t dots = text.find("..");
    const std::size_t plus = text.find('+');
    const auto begin = moment(text.substr(0, std::min(dots, plus)), today());
    if (!begin) return wrong(text);
    if (dots != std::string_view::npos) return between(*begin, text.substr(dots + 2), text);
    std::uint64_t length_us = begin->length_us;
    if (plus != std::string_view::npos) {
      length_us = parse_duration(text.substr(plus + 1)).value_or(0);
    }
    if (length_us == 0) return wrong(text);
    return past::Span{begin->time_us, begin->time_us + length_us};
  }

  // An end without a date is of the same day, or of the next one where it would come before.
  Result<past::Span> between(const NamedTime& begin, std::string_view end_text,
                             std::string_view text) const {
    auto end = moment(end_text, begin.day);
    if (!end) return wrong(text);
    if (end->time_us <= begin.time_us) {
      std::tm next = begin.day;
      ++next.tm_mday;
      end = moment(end_text, next);
    }
    if (!end || end->time_us <= begin.time_us) return wrong(text);
    return past::Span{begin.time_us, end->time_us};
  }

  std::optional<NamedTime> moment(std::string_view text, const std::tm& day) const {
    NamedTime made{.day = day};
    const std::size_t gap = text.find_first_of(" T");
    if (gap != std::string_view::npos) {
      if (!read_date(text.substr(0, gap), made.day)) return std::nullopt;
      text.remove_prefix(gap + 1);
    }
    const auto parts = numbers(text, ':');
    if (!parts || parts->size() < 2 || parts->size() > 3) return std::nullopt;
    std::tm at = made.day;
    at.tm_hour = (*parts)[0];
    at.tm_min = (*parts)[1];
    at.tm_sec = parts->size() == 3 ? (*parts)[2] : 0;
    if (at.tm_hour > 24 || at.tm_min > 59 || at.tm_sec > 59) return std::nullopt;
    const std::time_t seconds = seconds_of(at);
    if (seconds <= 0) return std::nullopt;
    made.time_us = static_cast<std::uint64_t>(seconds) * kSecondUs;
    made.length_us = parts->size() == 3 ? kSecondUs : 60 * kSecondUs;
    return made;
  }

  bool read_date(std::string_view text, std::tm& day) const {
    day = today();
    if (text == "today") return true;
    if (text == "yesterday") {
      --day.tm_mday;
      return true;
    }
    const auto parts = numbers(text, '-');
    if (!parts || parts->size() != 3 || (*parts)[0] < 1970) return false;
    day.tm_year = (*parts)[0] - 1900;
    day.tm_mon = (*parts)[1] - 1;
    day.tm_mday = (*parts)[2];
    return (*parts)[1] >= 1 && (*parts)[1] <= 12 && (*parts)[2] >= 1 && (*parts)[2] <= 31;
  }

  std::tm today() const {
    const auto seconds = static_cast<std::time_t>(now_.realtime_us / kSecondUs);
    std::tm made{};
    now_.utc ? ::gmtime_r(&seconds, &made) : ::localtime_r(&seconds, &made);
    return made;
  }
  std::time_t seconds_of(std::tm at) const {
    at.tm_isdst = -1;
    return now_.utc ? ::timegm(&at) : std::mktime(&at);
  }

  static Error wrong(std::string_view text) {
    return invalid("'" + std::string(text) +
                   "' is no span of time, as 5m, 12:03, 12:00..12:03, 12:03+5m or "
                   "\"yesterday 23:00..23:30\"");
  }

  const Now& now_;
};

}  // namespace

std::uint64_t realtime_now_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

Result<past::Span> parse_span(std::string_view text, const Now& now) {
  return SpanParser(now).parse(text);
}

}  // namespace tallyfs
