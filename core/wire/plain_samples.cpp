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

// A line that begins at `begin`: the places of its first two blanks.
struct ShortLine {
  const char* begin;
  std::size_t path_bytes;
  std::size_t bytes;
};

// Reads `INTERFACE/STATISTIC X` with a path that can be padded and 1 to 8 digits. False: the line
// has another form. begin: the begin of the line in the text itself.
[[gnu::always_inline]] inline bool take_short(const ShortLine& line, const char* begin,
                                              std::chrono::nanoseconds time,
                                              NamedSamples& samples) {
  const char* const path_end = line.begin + line.path_bytes;
  const char* const end = line.begin + line.bytes;
  const bool negative = path_end[1] == '-';
  const char* const number = path_end + 1 + (negative ? 1 : 0);
  const auto digits = static_cast<std::size_t>(end - number);
  // From 1 on, as what is less wraps.
  if (line.path_bytes - 1 >= PaddedName::kBytes || digits - 1 >= 8) return false;
  std::uint64_t word;
  std::memcpy(&word, number, sizeof word);
  // The digits go to the upper end, and what follows them goes.
  const std::uint64_t ones = (word ^ ('0' * kEachByte)) << (64 - 8 * digits);
  if (*path_end != ' ' || *end != '\n' || mark_others(ones) != 0) return false;
  const PaddedName name = load_name(line.begin, line.path_bytes);
  const std::string_view path(begin, line.path_bytes);
  std::size_t known = samples.find(name);
  if (known == NamedSamples::kUnknown) {
    if (!has_byte(name, '/') || has_byte(name, '|')) return false;
    known = samples.enter(path, name);
  }
  samples.push(known, path, {.x = with_sign(number_of(ones), negative), .y = 1, .time = time});
  return true;
}

}  // namespace

void Blanks::find(std::string_view window) {
  std::size_t at = 0;
  std::size_t block = 0;
  for (; at + kBlockBytes <= window.size(); at += kBlockBytes) {
    marks_[block++] = mark_blanks(window.data() + at);
  }
  std::array<char, kBlockBytes> rest;
  rest.fill('.');
  std::memcpy(rest.data(), window.data() + at, window.size() - at);
  marks_[block] = mark_blanks(rest.data());
  marks_[block + 1] = 0;
}

void PlainSamples::begin(std::string_view text) {
  text_ = text;
  window_ = window_end_ = tail_bytes_ = 0;
}

void PlainSamples::look_at(std::size_t window) {
  const std::string_view bytes = text_.substr(window, Blanks::kWindowBytes);
  blanks_.find(bytes);
  window_ = window;
  window_end_ = window + bytes.size();
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

// Takes lines from the one at `at` on. Returns the place of the next line.
std::size_t PlainSamples::take_short_ones(std::size_t at, std::chrono::nanoseconds time,
                                          NamedSamples& samples) {
  const std::size_t size = text_.size();
  if (at + kReadBytes <= size) {
    at = take_short_in({text_.data(), 0, size - kReadBytes + 1}, at, time, samples);
  }
  if (at + kReadBytes <= size) return at;
  return take_short_in(tail(), at, time, samples);
}

// Takes the lines that begin in the part, up to the first of another form.
std::size_t PlainSamples::take_short_in(const Part& part, std::size_t at,
                                        std::chrono::nanoseconds time, NamedSamples& samples) {
  // Local copies: the compiler must assume that the stores below change members.
  const char* const bytes = part.bytes;
  const char* const text = text_.data() + part.begin;
  const std::size_t size = part.end - part.begin;
  const std::size_t beyond_window = part.begin - window_;
  std::size_t i = at - part.begin;
  for (std::size_t room = samples.room(); room != 0 && i < size; --room) {
    const std::uint64_t blanks = blanks_.from(i + beyond_window);
    const std::uint64_t but_first = blanks & (blanks - 1);
    if (but_first == 0) break;
    const ShortLine line{bytes + i, static_cast<std::size_t>(std::countr_zero(blanks)),
                         static_cast<std::size_t>(std::countr_zero(but_first))};
    if (!take_short(line, text + i, time, samples)) break;
    i += line.bytes + 1;
  }
  return part.begin + i;
}

PlainSamples::Part PlainSamples::tail() {
  if (tail_bytes_ == 0) {
    tail_bytes_ = std::min(text_.size(), kReadBytes);
    text_.copy(tail_.data(), tail_bytes_, text_.size() - tail_bytes_);
  }
  return {tail_.data(), text_.size() - tail_bytes_, text_.size()};
}

}  // namespace tallyfs::wire
