// The time that a line has, by a format of strptime(3) in which %f is the digits of a fraction of a
// second. It is UTC if a letter Z ends the format, and local time without that, %z and %s. Confined
// to one thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace tallyfs::logs {

class TimeReader {
 public:
  explicit TimeReader(std::string format);

  // Since the epoch. Nothing: the text is not of the format, or the year not of 1970 to 2254.
  std::optional<std::chrono::nanoseconds> read(std::string_view text);

 private:
  std::optional<std::chrono::nanoseconds> parse(const char* text) const;

  const std::string format_;
  const bool is_utc_;
  std::string last_;  // lines of one second have the same text
  std::optional<std::chrono::nanoseconds> time_{};
};

}  // namespace tallyfs::logs
