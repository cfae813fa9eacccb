// Writes JSON (RFC 8259) onto a string, piece by piece and without white space: objects, arrays,
// keys, strings, numbers. The writer sets commas and colons. The caller sees to it that each begin
// has its end, and each key its value.
//
//   JsonWriter json(out);
//   json.begin_object().key("name").string("web").key("hits").number(17).end_object();
//   // {"name":"web","hits":17}
//
// A writer may begin inside of an object or array that another writer began: it sets no comma
// before its first piece. Numbers are printed as they are given: integers exactly, of up to 128
// bits, and never through a double. A loop over many pieces ends once is_too_long().
// Confined to one thread; the string outlives the writer.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/int128.h"

namespace tallyfs {

class JsonWriter {
 public:
  // The encoding of a string's bytes. kUtf8: characters stay as they are, and a byte that is part
  // of no character becomes U+FFFD. kUnknown: each byte beyond ASCII becomes the code point of its
  // number, \u0080 to \u00ff, so that no byte is lost.
  enum class Encoding : std::uint8_t { kUtf8, kUnknown };

  // kLength: the text is measured only, and out has a piece of it at a time.
  enum class Keep : std::uint8_t { kText, kLength };

  explicit JsonWriter(std::string& out, Encoding encoding = Encoding::kUtf8,
                      std::size_t bytes_max = std::string::npos, Keep keep = Keep::kText)
      : out_(out), encoding_(encoding), bytes_max_(bytes_max), keep_(keep) {}

  // The text is longer than bytes_max: what is written will not be used.
  bool is_too_long() {
    if (keep_ == Keep::kLength && out_.size() >= kPieceBytes) {
      dropped_ += out_.size();
      out_.clear();
    }
    return length() > bytes_max_;
  }
  std::size_t length() const { return dropped_ + out_.size(); }

  JsonWriter& begin_object() { return begin('{'); }
  JsonWriter& end_object() { return end('}'); }
  JsonWriter& begin_array() { return begin('['); }
  JsonWriter& end_array() { return end(']'); }

  // The name of the next value, in an object.
  JsonWriter& key(std::string_view name);

  JsonWriter& string(std::string_view text);
  template <std::integral Integer>
  JsonWriter& number(Integer value) {
    if constexpr (std::signed_integral<Integer>) return append(static_cast<std::int64_t>(value));
    return append(static_cast<std::uint64_t>(value));
  }
  JsonWriter& number(Int128 value) { return append(value); }
  // With exactly so many decimal places (decimal.h).
  JsonWriter& fixed(Int128 value, unsigned decimals);
  template <std::floating_point Decimal>
  JsonWriter& number(Decimal value) = delete;  // see decimals()
  // With so many decimals; null for a value that JSON has no number for.
  JsonWriter& decimals(double value, int decimals);
  // Whole microseconds; 0 for a time below zero, as append_timestamp() prints it.
  JsonWriter& microseconds(std::chrono::nanoseconds time);
  // A number that is a text already: digits, with a sign, a fraction and an exponent as JSON has
  // them.
  JsonWriter& number_text(std::string_view digits) { return value_text(digits); }
  // A value that is JSON already.
  JsonWriter& value_text(std::string_view json);
  JsonWriter& boolean(bool value);
  JsonWriter& null();

 private:
  JsonWriter& begin(char bracket);
  JsonWriter& end(char bracket);
  JsonWriter& append(std::int64_t value);
  JsonWriter& append(std::uint64_t value);
  JsonWriter& append(Int128 value);
  static constexpr std::size_t kPieceBytes = 4096;

  void separate();
  void quote(std::string_view text);
  std::size_t append_character(std::string_view text);

  std::string& out_;
  const Encoding encoding_;
  const std::size_t bytes_max_;
  const Keep keep_;
  std::size_t dropped_ = 0;  // bytes of pieces that were measured
  bool follows_value_ = false;
};

}  // namespace tallyfs
