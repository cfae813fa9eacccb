#include "tools/ctl/typed_words.h"

#include <algorithm>
#include <cctype>

#include "core/base/encoded_name.h"

namespace tallyfs {
namespace {

constexpr std::string_view kHelpKey = "help=";

// False for a byte that help= escapes: a control byte, a blank, '"' or '%'.
bool is_plain(unsigned char byte) {
  return byte > ' ' && byte != 0x7f && byte != '"' && byte != '%';
}

bool is_escape(std::string_view text, std::size_t at) {
  const auto is_digit = [&](std::size_t i) { return i < text.size() && is_hex(text[i]); };
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
  if (!word.starts_with(kHelpKey)) return std::string(word);
  const std::string_view help = word.substr(kHelpKey.size());
  return std::string(kHelpKey).append(is_stored(help) ? std::string(help) : encoded_help(help));
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
