// Writes messages of Protocol Buffers, field by field, without a schema. Fields of 0 are written
// too. Confined to its owner; the string outlives it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/base/bytes.h"

namespace tallyfs {

class ProtobufWriter {
 public:
  explicit ProtobufWriter(std::string& out) : out_(out) {}

  // uint64, int64 and int32 that are not below 0, enum.
  void number(unsigned field, std::uint64_t value) {
    varint(field << 3 | kVarint);
    varint(value);
  }
  // sint32 and sint64.
  void signed_number(unsigned field, std::int64_t value) { number(field, zigzag(value)); }
  void real(unsigned field, double value) {
    varint(field << 3 | kFixed64);
    ByteWriter(out_).put(std::bit_cast<std::uint64_t>(value));
  }
  // string, bytes, a message, a packed field.
  void bytes(unsigned field, std::string_view value) {
    varint(field << 3 | kBytes);
    delimited(value);
  }
  // Without a field: an element of a packed one, a length before a message.
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }
  void signed_varint(std::int64_t value) { varint(zigzag(value)); }
  void delimited(std::string_view value) {
    varint(value.size());
    out_.append(value);
  }

 private:
  static constexpr unsigned kVarint = 0;
  static constexpr unsigned kFixed64 = 1;
  static constexpr unsigned kBytes = 2;

  static std::uint64_t zigzag(std::int64_t value) {
    return static_cast<std::uint64_t>(value) << 1 ^ static_cast<std::uint64_t>(value >> 63);
  }

  std::string& out_;
};

}  // namespace tallyfs
