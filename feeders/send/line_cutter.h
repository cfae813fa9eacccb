// Cuts input, in pieces of any size, into numbered lines. Holds at most one line of kLineBytesMax
// bytes, however long the lines are. Confined to its owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tallyfs {

inline constexpr std::size_t kLineBytesMax = 4096;

struct NumberedLine {
  std::uint64_t number = 0;  // from 1
  std::string_view text;     // without its newline; good until the next call
  // There was more of it than kLineBytesMax; text is its beginning.
  bool too_long = false;

  // Blank, or a comment: '#' comes first.
  bool says_nothing() const;
};

class LineCutter {
 public:
  // The bytes must last until next() has nothing more to give.
  void feed(std::string_view bytes) { fed_ = bytes; }
  // The next line of which the end has arrived.
  std::optional<NumberedLine> next();
  // After the end of the input: its last line, if that lacked a newline.
  std::optional<NumberedLine> last();

 private:
  NumberedLine line(std::string_view text);
  void keep(std::string_view piece);

  std::string_view fed_;
  std::string begun_;   // of a line without its end; one byte more than kLineBytesMax says too long
  bool ended_ = false;  // begun_ was handed out
  std::uint64_t number_ = 0;
};

}  // namespace tallyfs
