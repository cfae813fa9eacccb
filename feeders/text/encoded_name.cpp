#include "feeders/text/encoded_name.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"

namespace tallyfs {
namespace {

// `character` is one of UTF-8.
bool is_plain(std::string_view character) {
  constexpr std::string_view kOurs = "%{},/=~";
  return is_units(character) && (character.size() > 1 || kOurs.find(character) == kOurs.npos);
}

// What most texts consist of, known without a look at UTF-8.
constexpr auto kPlainBytes = [] {
  std::array<bool, 256> plain{};
  for (unsigned char c = '!'; c <= '~'; ++c) plain[c] = true;
  for (const char c : std::string_view("%{},/=~")) plain[static_cast<unsigned char>(c)] = false;
  return plain;
}();

std::size_t plain_bytes(std::string_view text) {
  const auto end = std::ranges::find_if(
      text, [](char c) { return !kPlainBytes[static_cast<unsigned char>(c)]; });
  return static_cast<std::size_t>(end - text.begin());
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
    if (length != 0 && is_plain(character)) {
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

}  // namespace tallyfs
