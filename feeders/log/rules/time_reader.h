// The time that a line has, by a format of strptime(3) in which %f is the digits of a fraction of a
// second. Without %z and %s it is local time. Confined to one thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace tallyfs::logs {

class TimeReader {
 public:
  explicit TimeReader(std::string format) : format_(std::move(format)) {}

  // Since the epoch. Nothing: the text is not of the format, or the year not of 1970 to 2254.
  std::optional<std::chrono::nanoseconds> read(std::string_view text);

 private:
  std::optional<std::chrono::nanoseconds> parse(const char* text) const;

  const std::string format_;
  std::string last_;  // lines of one second have the same text
  std::optional<std::chrono::nanoseconds> time_{};
};

}  // namespace tallyfs::logs
