#include "tools/ctl/typed_words.h"

#include <algorithm>
#include <cctype>

namespace tallyfs {
namespace {

constexpr std::string_view kHelpKey = "help=";

// Of a byte as it stands in help=: a control byte, a blank, '"' and '%' are escaped.
bool is_plain(unsigned char byte) {
  return byte > ' ' && byte != 0x7f && byte != '"' && byte != '%';
}

bool is_escape(std::string_view text, std::size_t at) {
  const auto is_digit = [&](std::size_t i) {
    return i < text.size() && std::isxdigit(static_cast<unsigned char>(text[i])) != 0;
  };
  return text[at] == '%' && is_digit(at + 1) && is_digit(at + 2);
}

bool is_stored(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_plain(static_cast<unsigned char>(text[at])) && !is_escape(text, at)) return false;
  }
  return true;
}

}  // namespace

std::string stored_word(std::string_view word) {
  std::string made(word);
  if (!word.starts_with(kHelpKey) || is_stored(word.substr(kHelpKey.size()))) return made;
  made.resize(kHelpKey.size());
  for (const char each : word.substr(kHelpKey.size())) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(each);
    if (is_plain(byte)) {
      made.push_back(each);
    } else {
      made.append("%").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
    }
  }
  return made;
}

std::string shell_word(std::string_view word) {
  const bool is_safe = !word.empty() && std::ranges::all_of(word, [](const char each) {
    return std::isalnum(static_cast<unsigned char>(each)) != 0 ||
           std::string_view("_-./=:,%@+").find(each) != std::string_view::npos;
  });
  if (is_safe) return std::string(word);
  std::string made("'");
  for (const char each : word) made.append(each == '\'' ? "'\\''" : std::string(1, each));
  return made.append("'");
}

std::string create_line(const std::string& interface, const std::string& statistic,
                        const std::vector<std::string>& keys) {
  std::string line("tallyctl create ");
  line.append(shell_word(interface + "/" + (statistic.empty() ? "STATISTIC" : statistic)));
  bool is_switched = false;
  for (const std::string& key : keys) {
    if (key.starts_with("name=")) continue;
    is_switched |= key.starts_with("on=");
    line.append(" ").append(shell_word(key));
  }
  return is_switched ? line : line.append(" on=1");
}

}  // namespace tallyfs
