// The commonest lines of the text form of FORMAT.md, `INTERFACE/STATISTIC X`, many at a time: first
// all blanks and newlines are marked, then each line is read without a loop or a branch on its
// bytes. Confined to the thread that uses it; views last as long as the text.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/wire/byte_blocks.h"
#include "core/wire/named_samples.h"

namespace tallyfs::wire {

// Marks blanks, and whatever else is not above a blank, in a part of a text. A list of their places
// would take more to write than the marks take to read.
class Blanks {
 public:
  // So much of a text is looked at before its lines are read: most datagrams whole.
  static constexpr std::size_t kWindowBytes = 2048;

  // window: of at most kWindowBytes.
  void find(std::string_view window);
  // A bit for each of the next bytes, kAhead of them at least. Behind the window's end none is set.
  static constexpr std::size_t kAhead = 57;
  std::uint64_t from(std::size_t at) const {
    std::uint64_t marks;
    std::memcpy(&marks, reinterpret_cast<const char*>(marks_.data()) + at / 8, sizeof marks);
    return marks >> at % 8;
  }

 private:
  static_assert(kWindowBytes % kBlockBytes == 0);

  // The last two are for from() near the window's end.
  std::array<std::uint64_t, kWindowBytes / kBlockBytes + 2> marks_;
};

class PlainSamples {
 public:
  // From now on texts that are left are ends of this one.
  void begin(std::string_view text);
  // Reads plain samples (line.h) from the start of what is left, until there is none or `samples`
  // is full. Returns their bytes with the newlines. `time` is that of all samples.
  std::size_t take(std::string_view left, std::chrono::nanoseconds time, NamedSamples& samples);

 private:
  // So much is read from a line on, whatever its length is: a path that can be padded, a blank, a
  // sign and 8 digits. Of the last lines of a text there is as much in a copy only.
  static constexpr std::size_t kReadBytes = PaddedName::kBytes + 10;
  static_assert(kReadBytes < Blanks::kAhead);
  // The text from `begin` on. Lines that begin before `end` can be read.
  struct Part {
    const char* bytes;
    std::size_t begin;
    std::size_t end;
  };

  void look_at(std::size_t window);
  std::size_t take_short_ones(std::size_t at, std::chrono::nanoseconds time, NamedSamples& samples);
  std::size_t take_short_in(const Part& part, std::size_t at, std::chrono::nanoseconds time,
                            NamedSamples& samples);
  Part tail();

  std::string_view text_;
  std::size_t window_ = 0;  // of the text, whose blanks are known
  std::size_t window_end_ = 0;
  std::size_t tail_bytes_ = 0;  // 0: not copied yet
  std::array<char, 2 * kReadBytes> tail_{};
  Blanks blanks_;
};

}  // namespace tallyfs::wire
