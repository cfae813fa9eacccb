#include "exporters/web/target.h"

#include <algorithm>

#include "core/base/text.h"

namespace tallyfs::web {
namespace {

std::optional<unsigned> digit_of(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A' + 10);
  return std::nullopt;
}

enum class Plus { kItself, kBlank };

std::optional<std::string> decoded(std::string_view text, Plus plus) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == Plus::kBlank) {
      made.push_back(' ');
      continue;
    }
    if (text[i] != '%') {
      made.push_back(text[i]);
      continue;
    }
    const auto high = i + 2 < text.size() ? digit_of(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? digit_of(text[i + 2]) : std::nullopt;
    if (!high || !low || (*high == 0 && *low == 0)) return std::nullopt;
    made.push_back(static_cast<char>(*high * 16 + *low));
    i += 2;
  }
  return made;
}

bool parse_path(std::string_view text, Target& target) {
  while (!text.empty()) {
    text.remove_prefix(1);  // the slash
    const std::size_t end = std::min(text.find('/'), text.size());
    auto part = decoded(text.substr(0, end), Plus::kItself);
    if (!part) return false;
    if (!part->empty()) target.path.push_back(*std::move(part));
    text.remove_prefix(end);
  }
  return true;
}

bool parse_query(std::string_view text, Target& target) {
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = decoded(pair.substr(0, equals), Plus::kBlank);
    auto value = decoded(pair.substr(std::min(equals + 1, pair.size())), Plus::kBlank);
    if (!name || !value) return false;
    target.query.push_back({*std::move(name), *std::move(value)});
  }
  return true;
}

}  // namespace

const std::string* Target::find(std::string_view name) const {
  const auto found = std::ranges::find(query, name, &Parameter::name);
  return found == query.end() ? nullptr : &found->value;
}

std::uint64_t Target::number(std::string_view name, std::uint64_t fallback,
                             std::uint64_t most) const {
  const std::string* const text = find(name);
  return std::min(text ? parse_unsigned(*text).value_or(fallback) : fallback, most);
}

std::optional<Target> parse_target(std::string_view text) {
  if (!text.starts_with('/')) return std::nullopt;
  const std::size_t question = std::min(text.find('?'), text.size());
  Target target;
  if (!parse_path(text.substr(0, question), target)) return std::nullopt;
  text.remove_prefix(std::min(question + 1, text.size()));
  if (!parse_query(text, target)) return std::nullopt;
  return target;
}

}  // namespace tallyfs::web
