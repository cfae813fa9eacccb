// Bits one after the other in bytes, the lowest first. Values, confined to their owner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/int128.h"

namespace tallyfs::past {

class BitWriter {
 public:
  // The lowest `size` bits of the value, 127 at most.
  void put(std::string& out, UInt128 value, unsigned size) {
    while (size > 0) {
      if (free_ == 0) out.push_back('\0');
      if (free_ == 0) free_ = 8;
      const unsigned part = std::min(size, free_);
      const auto bits = static_cast<unsigned>(value) & ((1u << part) - 1);
      out.back() = static_cast<char>(static_cast<unsigned char>(out.back()) | bits << (8 - free_));
      free_ -= part;
      size -= part;
      value >>= part;
    }
  }

 private:
  unsigned free_ = 0;  // bits of the last byte
};

// Reads bits of bytes that may be damaged: after their end has_failed() is true, and all bits are
// 0.
class BitReader {
 public:
  explicit BitReader(std::string_view bytes = {}) : bytes_(bytes) {}

  UInt128 take(unsigned size) {
    if (!skip(size)) return 0;
    UInt128 made = 0;
    const std::uint64_t begin = at_ - size;
    for (unsigned done = 0; done < size;) {
      const std::uint64_t at = begin + done;
      const auto byte = static_cast<unsigned char>(bytes_[static_cast<std::size_t>(at / 8)]);
      const unsigned part = std::min(size - done, 8 - static_cast<unsigned>(at % 8));
      made |= static_cast<UInt128>(byte >> at % 8 & ((1u << part) - 1)) << done;
      done += part;
    }
    return made;
  }
  // False: there are not so many.
  bool skip(std::uint64_t size) {
    has_failed_ |= size > bytes_.size() * 8 - at_;
    if (!has_failed_) at_ += size;
    return !has_failed_;
  }
  bool has_failed() const { return has_failed_; }

 private:
  std::string_view bytes_;
  std::uint64_t at_ = 0;
  bool has_failed_ = false;
};

}  // namespace tallyfs::past
