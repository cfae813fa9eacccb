#include "fs/daemon/kernel_feeder/kernel_texts.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"

namespace tallyfs {
namespace {

constexpr std::string_view kBetween = " : \"";

// The text without its quotes, with \n, \t, \" and \\ for what they stand for.
std::string unescaped(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_escape = text[i] == '\\' && i + 1 < text.size();
    if (is_escape) ++i;
    const char c = text[i];
    made.push_back(!is_escape ? c : c == 'n' ? '\n' : c == 't' ? '\t' : c);
  }
  return made;
}

}  // namespace

KernelTexts::KernelTexts(std::string printk_formats) : printk_formats_(std::move(printk_formats)) {
  std::string_view rest = printk_formats_;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::size_t between = line.find(kBetween);
    if (between == line.npos || !line.ends_with('"')) continue;
    const std::size_t start = between + kBetween.size();
    const auto address = parse_unsigned(line.substr(0, between));
    if (!address || start >= line.size()) continue;
    by_address_.emplace(*address, unescaped(line.substr(start, line.size() - start - 1)));
  }
}

std::optional<std::string> KernelTexts::at(std::uint64_t address) const {
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tallyfs
