// Splits bytes that arrive in pieces of any size into numbered lines. Holds at most one line of
// bytes_max bytes, however long the lines are. Confined to one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tallyfs {

struct NumberedLine {
  std::uint64_t number = 0;  // from 1
  std::string_view text;     // without its newline; valid until the next call
  // The line is longer than bytes_max; text is its beginning.
  bool too_long = false;

  // Blank, or a comment: its first character is '#'.
  bool is_empty_or_comment() const;
};

class LineSplitter {
 public:
  explicit LineSplitter(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  // The bytes must stay valid until next() returns nothing.
  void feed(std::string_view bytes) { fed_ = bytes; }
  // The next line that is complete with its newline.
  std::optional<NumberedLine> next();
  // At the end of the input: its last line, if that has no newline.
  std::optional<NumberedLine> last();

  // The beginning of the line that has no newline yet.
  std::string_view begun() const { return has_ended_ ? std::string_view() : text_of(begun_); }
  bool begun_is_too_long() const { return !has_ended_ && begun_.size() > bytes_max_; }
  // Forgets the line that has begun.
  void restart();

 private:
  std::string_view text_of(std::string_view line) const { return line.substr(0, bytes_max_); }
  NumberedLine line(std::string_view text);
  void keep(std::string_view piece);

  const std::size_t bytes_max_;
  std::string_view fed_;
  std::string begun_;       // of a line without its newline; bytes_max_ + 1 bytes mean: too long
  bool has_ended_ = false;  // begun_ was returned as a line
  std::uint64_t number_ = 0;
};

}  // namespace tallyfs
