#include "core/wire/plain_samples.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "core/wire/byte_blocks.h"
#include "core/wire/digits.h"
#include "core/wire/line.h"

namespace tallyfs::wire {
namespace {

// Without the processor's instruction, which not every x86-64 has.
unsigned count_bits(std::uint64_t bits) {
  bits -= bits >> 1 & 0x5555'5555'5555'5555;
  bits = (bits & 0x3333'3333'3333'3333) + (bits >> 2 & 0x3333'3333'3333'3333);
  bits = (bits + (bits >> 4)) & 0x0F0F'0F0F'0F0F'0F0F;
  bits += bits >> 8;
  bits += bits >> 16;
  return static_cast<unsigned>((bits + (bits >> 32)) & 0x7F);
}

// Of a line of a text: from `begin` up to the first blank, and up to the second.
struct Places {
  const char* begin;
  const char* path_end;
  const char* end;
};

// Reads `INTERFACE/STATISTIC X` with a path that can be padded and 1 to 8 digits, and enough of the
// text around them. False: another form, or one of the text's first or last lines.
[[gnu::always_inline]] inline bool take_short(std::string_view text, const Places& line,
                                              std::chrono::nanoseconds time,
                                              NamedSamples& samples) {
  const auto path_bytes = static_cast<std::size_t>(line.path_end - line.begin);
  const auto left = static_cast<std::size_t>(text.data() + text.size() - line.begin);
  const auto before = static_cast<std::size_t>(line.end - text.data());
  const bool negative = line.path_end[1] == '-';
  const auto field_bytes = static_cast<std::size_t>(line.end - line.path_end);
  const std::size_t digits_and_blank = field_bytes - std::size_t{negative};
  // One digit at least, and eight at most.
  if (path_bytes > PaddedName::kBytes || left < PaddedName::kBytes || before < 8 ||
      digits_and_blank < 2 || digits_and_blank > 9) {
    return false;
  }
  const LoadedName name = load_name(line.begin, path_bytes);
  // The digits end where the line does, so that they are at the upper end; the others go.
  std::uint64_t word;
  std::memcpy(&word, line.end - sizeof word, sizeof word);
  const auto others_bits = static_cast<unsigned>(8 * (9 - digits_and_blank));
  const std::uint64_t ones = (word ^ ('0' * kEachByte)) >> others_bits << others_bits;
  const bool ends_well = (*line.path_end == ' ') & (*line.end == '\n');
  const bool has_digits = mark_others(ones) == 0;
  if (!(ends_well & has_digits & name.has_slash & !name.has_bar)) return false;
  samples.push({line.begin, path_bytes}, name.padded,
               {.x = with_sign(number_of(ones), negative), .y = 1, .time = time});
  return true;
}

}  // namespace

void Blanks::find(std::string_view window) {
  size_ = 0;
  std::size_t at = 0;
  for (; at + kBlockBytes <= window.size(); at += kBlockBytes) {
    note(mark_blanks(window.data() + at), at);
  }
  if (at == window.size()) return;
  std::array<char, kBlockBytes> rest;
  rest.fill('.');
  std::memcpy(rest.data(), window.data() + at, window.size() - at);
  note(mark_blanks(rest.data()), at);
}

void Blanks::note(std::uint64_t marks, std::size_t at) {
  std::uint16_t* const places = places_.data() + size_;
  const unsigned count = count_bits(marks);
  const auto note_next = [&](unsigned i) {
    // The highest bit stands for those that are not there.
    const std::uint64_t some = marks | std::uint64_t{1} << (kBlockBytes - 1);
    places[i] = static_cast<std::uint16_t>(at + static_cast<unsigned>(std::countr_zero(some)));
    marks &= some - 1;
  };
  for (unsigned i = 0; i < kAtOnce; ++i) note_next(i);
  for (unsigned i = kAtOnce; i < count; ++i) note_next(i);
  size_ += count;
}

void PlainSamples::begin(std::string_view text) {
  text_ = text;
  window_ = window_end_ = next_ = 0;
  blanks_.forget();
}

void PlainSamples::look_at(std::size_t window) {
  const std::string_view bytes = text_.substr(window, Blanks::kWindowBytes);
  blanks_.find(bytes);
  window_ = window;
  window_end_ = window + bytes.size();
  next_ = 0;
}

std::size_t PlainSamples::take(std::string_view left, std::chrono::nanoseconds time,
                               NamedSamples& samples) {
  const std::size_t begin = text_.size() - left.size();
  std::size_t at = begin;
  while (at < text_.size() && !samples.full()) {
    if (at >= window_end_) look_at(at);
    at = take_short_ones(at, time, samples);
    if (at == text_.size() || samples.full()) break;
    // A line of another form, or one at the end of the window or of the text.
    SampleLine sample;
    const std::size_t bytes = take_plain_sample(text_.substr(at), sample);
    if (bytes == 0) break;
    samples.push(sample.path, {.x = sample.x, .y = sample.y, .time = time});
    at += bytes;
  }
  return at - begin;
}

// From the line at `at` on. Returns the place of the next line.
std::size_t PlainSamples::take_short_ones(std::size_t at, std::chrono::nanoseconds time,
                                          NamedSamples& samples) {
  const std::string_view text = text_;
  const char* const window = text.data() + window_;
  std::size_t next = next_;
  const std::size_t size = blanks_.size();
  while (next < size && window_ + blanks_[next] < at) ++next;
  std::size_t room = samples.room();
  for (; next + 1 < size && room != 0; next += 2, --room) {
    const Places line{text.data() + at, window + blanks_[next], window + blanks_[next + 1]};
    if (!take_short(text, line, time, samples)) break;
    at = static_cast<std::size_t>(line.end + 1 - text.data());
  }
  next_ = next;
  return at;
}

}  // namespace tallyfs::wire
