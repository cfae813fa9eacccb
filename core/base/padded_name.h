// A name of at most 32 bytes with zeros behind it. Four words are compared and hashed at the same
// cost whatever the length of the name is, without a loop or a branch. A plain value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tallyfs {

struct PaddedName {
  static constexpr std::size_t kBytes = 32;

  alignas(16) std::array<std::uint64_t, kBytes / 8> words;

  static bool fits(std::string_view name) { return name.size() <= kBytes; }
  // A name that does not fit gives what no other name gives: all zeros.
  static PaddedName of(std::string_view name) {
    PaddedName padded{};
    if (!name.empty() && fits(name)) std::memcpy(padded.words.data(), name.data(), name.size());
    return padded;
  }
  bool operator==(const PaddedName& other) const {
    return ((words[0] ^ other.words[0]) | (words[1] ^ other.words[1]) |
            (words[2] ^ other.words[2]) | (words[3] ^ other.words[3])) == 0;
  }
};

}  // namespace tallyfs
