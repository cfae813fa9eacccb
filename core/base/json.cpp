#include "core/base/json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/base/decimal.h"
#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr std::size_t kDoubleBytesMax = 400;

// Stands in a string as it is.
constexpr bool is_plain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

void append_escape(std::string& out, unsigned char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  out.append({'\\', 'u', '0', '0', kDigits[byte >> 4], kDigits[byte & 15]});
}

}  // namespace

void JsonWriter::separate() {
  if (follows_value_) out_.push_back(',');
  follows_value_ = true;
}

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  out_.push_back(bracket);
  follows_value_ = false;
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  out_.push_back(bracket);
  follows_value_ = true;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  out_.push_back(':');
  follows_value_ = false;
  return *this;
}

JsonWriter& JsonWriter::string(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::append(std::int64_t value) {
  separate();
  append_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::append(std::uint64_t value) {
  separate();
  append_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::append(Int128 value) {
  separate();
  append_number(out_, value);
  return *this;
}

JsonWriter& JsonWriter::fixed(Int128 value, unsigned decimals) {
  separate();
  append_fixed(out_, value, decimals);
  return *this;
}

JsonWriter& JsonWriter::decimals(double value, int decimals) {
  if (!std::isfinite(value)) return null();
  std::array<char, kDoubleBytesMax> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::fixed, decimals)
                       .ptr;
  return number_text({digits.data(), end});
}

JsonWriter& JsonWriter::microseconds(std::chrono::nanoseconds time) {
  return append(std::max<std::int64_t>(time.count(), 0) / 1000);
}

JsonWriter& JsonWriter::value_text(std::string_view json) {
  separate();
  out_.append(json);
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) { return number_text(value ? "true" : "false"); }

JsonWriter& JsonWriter::null() { return number_text("null"); }

void JsonWriter::quote(std::string_view text) {
  out_.push_back('"');
  while (!text.empty()) {
    const auto plain = std::find_if_not(text.begin(), text.end(), is_plain) - text.begin();
    out_.append(text, 0, static_cast<std::size_t>(plain));
    text.remove_prefix(static_cast<std::size_t>(plain));
    if (!text.empty()) text.remove_prefix(append_character(text));
  }
  out_.push_back('"');
}

// Returns how many bytes of the text it has taken.
std::size_t JsonWriter::append_character(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text.front());
  if (byte >= 0x80 && encoding_ == Encoding::kUtf8) {
    char32_t point = 0;
    const std::size_t length = utf8_length(text, point);
    out_.append(length == 0 ? std::string_view("\\ufffd") : text.substr(0, length));
    return length == 0 ? 1 : length;
  }
  if (byte == '"' || byte == '\\') {
    out_.append({'\\', text.front()});
  } else if (byte < 0x20 || byte >= 0x7F) {
    append_escape(out_, byte);
  } else {
    out_.push_back(text.front());
  }
  return 1;
}

}  // namespace tallyfs
