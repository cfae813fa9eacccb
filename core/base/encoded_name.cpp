#include "core/base/encoded_name.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/text.h"

namespace tallyfs {
namespace {

// A `|` in a line of text is one of StatsD, and quotes are for what people type.
constexpr std::string_view kOurs = "%{},/=~|\"";

// `character` is one of UTF-8.
bool is_plain_character(std::string_view character) {
  return is_units(character) && (character.size() > 1 || kOurs.find(character) == kOurs.npos);
}

// What most texts consist of, known without a look at UTF-8.
constexpr auto kPlainBytes = [] {
  std::array<bool, 256> plain{};
  for (unsigned char c = '!'; c <= '~'; ++c) plain[c] = true;
  for (const char c : kOurs) plain[static_cast<unsigned char>(c)] = false;
  return plain;
}();

std::size_t plain_bytes(std::string_view text) {
  const auto end = std::ranges::find_if(
      text, [](char c) { return !kPlainBytes[static_cast<unsigned char>(c)]; });
  return static_cast<std::size_t>(end - text.begin());
}

std::optional<unsigned> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A' + 10);
  return std::nullopt;
}

}  // namespace

void append_percent(std::string& out, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out.push_back('%');
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
}

void append_encoded(std::string& out, std::string_view text) {
  for (;;) {
    const std::size_t plain = plain_bytes(text);
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    char32_t point = 0;
    const std::size_t length = utf8_length(text, point);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length != 0 && is_plain_character(character)) {
      out.append(character);
    } else {
      append_percent(out, character);
    }
    text.remove_prefix(character.size());
  }
}

std::string encoded_name(std::string_view name) {
  std::string out;
  if (name == "." || name == "..") {
    append_percent(out, name);
  } else {
    append_encoded(out, name);
  }
  return out;
}

std::string without_escapes(std::string_view text, bool (*keeps)(char)) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = high ? hex_digit(text[i + 2]) : std::nullopt;
    const char byte = low ? static_cast<char>(*high << 4 | *low) : text[i];
    if (low && !keeps(byte)) {
      decoded.push_back(byte);
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

}  // namespace tallyfs
