// Numbers as bytes in a block of the store: seven bits a byte, lowest first, as Protocol Buffers
// write them (FORMAT.md). Values, confined to their owner.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/base/int128.h"

namespace tallyfs::past {

inline void put_number(std::string& out, UInt128 value) {
  for (; value >= 0x80; value >>= 7) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(value) | 0x80));
  }
  out.push_back(static_cast<char>(value));
}
// Small ones of both signs are short.
inline void put_signed(std::string& out, Int128 value) {
  put_number(out, (static_cast<UInt128>(value) << 1) ^ static_cast<UInt128>(value >> 127));
}

// Reads what those wrote, from bytes that may be anything: after a number that is torn or too long
// has_failed(), and all numbers are 0.
class NumberReader {
 public:
  explicit NumberReader(std::string_view bytes = {}) : bytes_(bytes) {}

  UInt128 wide() {
    UInt128 value = 0;
    for (unsigned shift = 0; shift < 128 && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at_++]);
      value |= static_cast<UInt128>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }
  std::uint64_t number() {
    // Most have one byte.
    if (at_ < bytes_.size() && static_cast<unsigned char>(bytes_[at_]) < 0x80) {
      return static_cast<unsigned char>(bytes_[at_++]);
    }
    return long_number();
  }
  // Passes over so many, of which most have one byte.
  void skip_numbers(std::uint64_t count) {
    for (; count >= kWord && is_word_of_short(); count -= kWord) at_ += kWord;
    for (; count > 0 && !has_failed_; --count) (void)number();
  }
  Int128 wide_signed() {
    const UInt128 value = wide();
    return static_cast<Int128>((value >> 1) ^ (~(value & 1) + 1));
  }
  std::int64_t signed_number() {
    const Int128 value = wide_signed();
    if (value == static_cast<std::int64_t>(value)) return static_cast<std::int64_t>(value);
    fail();
    return 0;
  }
  // The next bytes; nothing, and has_failed(), if there are fewer.
  std::string_view piece(std::uint64_t size) {
    if (size > left()) fail();
    if (has_failed_) return {};
    const std::string_view made = bytes_.substr(at_, static_cast<std::size_t>(size));
    at_ += static_cast<std::size_t>(size);
    return made;
  }

  std::size_t left() const { return bytes_.size() - at_; }
  bool has_failed() const { return has_failed_; }

 private:
  static constexpr std::size_t kWord = sizeof(std::uint64_t);

  // Apart, so that number() is small.
  [[gnu::noinline]] std::uint64_t long_number() {
    const UInt128 value = wide();
    if (value >> 64 == 0) return static_cast<std::uint64_t>(value);
    fail();
    return 0;
  }
  // Whether the next bytes are a number each.
  bool is_word_of_short() const {
    if (left() < kWord) return false;
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + at_, kWord);
    return (word & 0x8080'8080'8080'8080) == 0;
  }
  void fail() {
    has_failed_ = true;
    at_ = bytes_.size();
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  bool has_failed_ = false;
};

}  // namespace tallyfs::past
