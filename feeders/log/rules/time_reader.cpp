#include "feeders/log/rules/time_reader.h"

#include <algorithm>
#include <ctime>
#include <utility>

namespace tallyfs::logs {
namespace {

constexpr std::size_t kTextMax = 128;
constexpr std::string_view kFraction = "%f";

bool is_decimal(char c) { return c >= '0' && c <= '9'; }

// Digits after a point, of which a nanosecond has nine.
std::chrono::nanoseconds read_fraction(const char*& text) {
  std::int64_t ns = 0;
  std::int64_t unit = 100'000'000;
  for (; is_decimal(*text); ++text) {
    ns += (*text - '0') * unit;
    unit /= 10;
  }
  return std::chrono::nanoseconds(ns);
}

// nullopt before 1970, and beyond the range of nanoseconds in 64 bits.
std::optional<std::chrono::seconds> since_epoch(std::tm time, bool has_zone) {
  constexpr std::time_t kSecondsMax = 9'000'000'000;
  const long offset = time.tm_gmtoff;
  time.tm_isdst = -1;
  const std::time_t seconds = has_zone ? ::timegm(&time) - offset : std::mktime(&time);
  if (seconds < 0 || seconds > kSecondsMax) return std::nullopt;
  return std::chrono::seconds(seconds);
}

// A Z is the zone of UTC, as in %SZ; in %Z it is part of a directive.
bool ends_in_utc(std::string_view format) {
  constexpr std::string_view kFlags = "_-0^#EO123456789";
  bool is_literal = false;
  for (std::size_t at = 0; at < format.size(); ++at) {
    is_literal = format[at] != '%';
    if (!is_literal) at = std::min(format.find_first_not_of(kFlags, at + 1), format.size());
  }
  return is_literal && format.ends_with('Z');
}

}  // namespace

TimeReader::TimeReader(std::string format)
    : format_(std::move(format)), is_utc_(ends_in_utc(format_)) {}

std::optional<std::chrono::nanoseconds> TimeReader::read(std::string_view text) {
  if (text.size() > kTextMax) return std::nullopt;
  if (text == last_ && time_) return time_;
  last_ = text;
  time_ = parse(last_.c_str());
  return time_;
}

std::optional<std::chrono::nanoseconds> TimeReader::parse(const char* text) const {
  std::tm time{};
  // A format like that of syslog lacks the year: the missing parts are those of today.
  const std::time_t now = std::time(nullptr);
  std::tm today{};
  if (is_utc_)
    ::gmtime_r(&now, &today);
  else
    ::localtime_r(&now, &today);
  time.tm_year = today.tm_year;
  time.tm_mon = today.tm_mon;
  time.tm_mday = today.tm_mday;
  const std::size_t split = std::min(format_.find(kFraction), format_.size());
  const char* rest = ::strptime(text, format_.substr(0, split).c_str(), &time);
  std::chrono::nanoseconds fraction{0};
  if (rest && split != format_.size()) {
    fraction = read_fraction(rest);
    rest = ::strptime(rest, format_.substr(split + kFraction.size()).c_str(), &time);
  }
  if (!rest || *rest != '\0') return std::nullopt;
  const bool has_zone = is_utc_ || format_.find("%z") != format_.npos;
  auto at = since_epoch(time, has_zone);
  // A year that was not said: December's lines are read in January, too.
  const bool has_year = format_.find_first_of("YyDFcxsC") != format_.npos;
  if (!has_year && at && *at > std::chrono::seconds(now) + std::chrono::hours(24)) {
    time.tm_year -= 1;
    at = since_epoch(time, has_zone);
  }
  if (!at) return std::nullopt;
  return *at + fraction;
}

}  // namespace tallyfs::logs
