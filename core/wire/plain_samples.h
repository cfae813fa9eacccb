// The commonest lines of the text form of FORMAT.md, `INTERFACE/STATISTIC X`, many at a time: first
// the places of all blanks and newlines are found, then each line is read without a loop or a
// branch on its bytes. Confined to the thread that uses it; views last as long as the text.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/wire/byte_blocks.h"
#include "core/wire/named_samples.h"

namespace tallyfs::wire {

// The places of blanks, and of whatever else is not above a blank, in a part of a text.
class Blanks {
 public:
  // So much of a text is looked at before its lines are read: most datagrams whole.
  static constexpr std::size_t kWindowBytes = 2048;

  // window: of at most kWindowBytes.
  void find(std::string_view window);
  void forget() { size_ = 0; }
  std::size_t size() const { return size_; }
  // From the start of the window.
  std::size_t operator[](std::size_t i) const { return places_[i]; }

 private:
  // So many are noted at once, whether there are as many or not: a loop that ends with the last
  // one would be mispredicted once in each block.
  static constexpr unsigned kAtOnce = 12;
  static_assert(kWindowBytes % kBlockBytes == 0);

  void note(std::uint64_t marks, std::size_t at);

  std::size_t size_ = 0;
  std::array<std::uint16_t, kWindowBytes + kAtOnce> places_;
};

class PlainSamples {
 public:
  // From now on texts that are left are ends of this one.
  void begin(std::string_view text);
  // Reads plain samples (line.h) from the start of what is left, until there is none or `samples`
  // is full. Returns their bytes with the newlines. `time` is that of all samples.
  std::size_t take(std::string_view left, std::chrono::nanoseconds time, NamedSamples& samples);

 private:
  void look_at(std::size_t window);
  std::size_t take_short_ones(std::size_t at, std::chrono::nanoseconds time, NamedSamples& samples);

  std::string_view text_;
  std::size_t window_ = 0;  // of the text, whose blanks are known
  std::size_t window_end_ = 0;
  std::size_t next_ = 0;  // of the blanks
  Blanks blanks_;
};

}  // namespace tallyfs::wire
