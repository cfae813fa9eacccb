#include "core/base/encoded_name.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace tallyfs {
namespace {

using PlainBytes = std::array<bool, 256>;

// The bytes that most texts consist of, known without a look at UTF-8.
constexpr PlainBytes plain_bytes_but(std::string_view ours) {
  PlainBytes plain{};
  for (unsigned char c = '!'; c <= '~'; ++c) plain[c] = true;
  for (const char c : ours) plain[static_cast<unsigned char>(c)] = false;
  return plain;
}
// A `|` in a line of text is one of StatsD, and quotes are for what people type.
constexpr PlainBytes kPlainInNames = plain_bytes_but("%{},/=~|\"");
constexpr PlainBytes kPlainInHelp = plain_bytes_but("%\"");

std::size_t plain_bytes(std::string_view text, const PlainBytes& plain) {
  const auto end = std::ranges::find_if(
      text, [&](char c) { return !plain[static_cast<unsigned char>(c)]; });
  return static_cast<std::size_t>(end - text.begin());
}

void append_encoded_but(std::string& out, std::string_view text, const PlainBytes& plain) {
  for (;;) {
    const std::size_t count = plain_bytes(text, plain);
    out.append(text.substr(0, count));
    text.remove_prefix(count);
    if (text.empty()) return;
    char32_t point = 0;
    const std::size_t length = utf8_length(text, point);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length > 1 && is_units(character)) {
      out.append(character);
    } else {
      append_percent(out, character);
    }
    text.remove_prefix(character.size());
  }
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
  append_encoded_but(out, text, kPlainInNames);
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

// A "-" alone would mean that there is no help.
std::string encoded_help(std::string_view text) {
  std::string out;
  if (text == "-") {
    append_percent(out, text);
  } else {
    append_encoded_but(out, text, kPlainInHelp);
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
