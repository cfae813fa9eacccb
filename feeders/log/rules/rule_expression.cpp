#include "feeders/log/rules/rule_expression.h"

#include <cstring>

#include "feeders/log/rules/expression.h"

namespace tallyfs::logs {
namespace {

// The search tries so many places before RE2 searches the line itself.
constexpr int kPlacesMax = 4;

// Whether there is a | outside of parentheses, or something that may hide one.
bool may_have_branches(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '\\':
        if (at + 1 < text.size() && text[at + 1] == 'Q') return true;
        ++at;
        break;
      case '[':
        at = class_end(text, at) - 1;
        break;
      case '(':
        ++depth;
        break;
      case ')':
        --depth;
        break;
      case '|':
        if (depth == 0) return true;
        break;
      default:
        break;
    }
  }
  return false;
}

bool is_word_byte(char c) { return is_word(c) || static_cast<unsigned char>(c) >= 0x80; }

}  // namespace

std::optional<char> first_byte_of(std::string_view expression) {
  constexpr std::string_view kSpecial = "^$.[]()|?*+{}\\";
  constexpr std::string_view kQuantifiers = "*+?{|";
  if (expression.empty()) return std::nullopt;
  const bool is_escaped = expression.front() == '\\' && expression.size() > 1;
  const char first = expression[is_escaped ? 1 : 0];
  if (is_escaped ? is_word_byte(first) : kSpecial.find(first) != kSpecial.npos) return std::nullopt;
  const std::string_view rest = expression.substr(is_escaped ? 2 : 1);
  if (!rest.empty() && kQuantifiers.find(rest.front()) != kQuantifiers.npos) return std::nullopt;
  if (may_have_branches(rest)) return std::nullopt;
  return first;
}

RuleExpression::RuleExpression(const Rule& rule, std::size_t rules)
    : expression_(rule.expression, expression_options(rules)),
      captured_(rule.groups == 0 ? 0 : static_cast<int>(rule.groups) + 1),
      first_(first_byte_of(rule.expression)) {}

bool RuleExpression::match(std::string_view line, re2::StringPiece* groups) const {
  const re2::StringPiece text(line.data(), line.size());
  std::size_t at = 0;
  for (int i = 0; first_ && i < kPlacesMax; ++i, ++at) {
    const std::size_t found = line.find(*first_, at);
    if (found == line.npos) return false;
    at = found;
    if (expression_.Match(text, at, line.size(), re2::RE2::ANCHOR_START, groups, captured_)) {
      return true;
    }
  }
  return expression_.Match(text, at, line.size(), re2::RE2::UNANCHORED, groups, captured_);
}

}  // namespace tallyfs::logs
