// Little-endian bytes in and out: for the wire (core/wire/FORMAT.md) and for saved state.
// Header only. Confined to the thread that holds them.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/int128.h"

namespace tallyfs {

static_assert(std::endian::native == std::endian::little,
              "bytes are copied as they stand in memory; a big-endian port starts here");

template <typename T>
concept WireNumber = std::integral<T> || std::same_as<T, Int128> || std::same_as<T, UInt128>;

// Appends to a string, which grows as needed.
class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  template <WireNumber T>
  void put(T value) {
    char raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    out_.append(raw, sizeof raw);
  }
  // A text of at most 4 GiB, with its length (u32) before it.
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    out_.append(text);
  }
  // Appends bytes that another writer has made.
  void put_bytes(std::string_view bytes) { out_.append(bytes); }

 private:
  std::string& out_;
};

// Reads the output of ByteWriter, or bytes of an untrusted sender: never beyond the end. After the
// first read that did not fit, ok() is false and every further read yields zeros.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <WireNumber T>
  T get() {
    T value{};
    const std::string_view raw = take(sizeof value);
    if (ok_) std::memcpy(&value, raw.data(), sizeof value);
    return value;
  }
  // One byte, which must be 0 or 1.
  bool get_flag() {
    const auto flag = get<std::uint8_t>();
    if (flag > 1) fail();
    return flag == 1;
  }
  std::string_view get_text() { return take(get<std::uint32_t>()); }
  // The next `size` bytes, or nothing at all.
  std::string_view take(std::size_t size) {
    if (!ok_ || size > rest_.size()) {
      ok_ = false;
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  // Called by a reader that finds a value out of its range: the rest is not to be trusted either.
  void fail() { ok_ = false; }

  bool ok() const { return ok_; }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace tallyfs
