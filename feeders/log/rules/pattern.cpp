#include "feeders/log/rules/pattern.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "feeders/log/rules/expression.h"

namespace tallyfs::logs {
namespace {

// RE2 adds the part of the expression that is wrong to its reason.
Error refused(const re2::RE2& compiled, std::string_view text) {
  const std::string& part = compiled.error_arg();
  std::string reason = compiled.error();
  if (!part.empty() && reason.ends_with(": " + part))
    reason.resize(reason.size() - part.size() - 2);
  const std::size_t at = part.empty() ? text.npos : text.find(part);
  return invalid("RE2 refuses the pattern: " + reason, at == text.npos ? 0 : at);
}

}  // namespace

// A ']' that comes first is one of the class.
std::size_t class_end(std::string_view text, std::size_t at) {
  std::size_t i = at + 1;
  if (i < text.size() && text[i] == '^') ++i;
  if (i < text.size() && text[i] == ']') ++i;
  for (; i < text.size() && text[i] != ']'; ++i) {
    if (text[i] == '\\') ++i;
    if (i < text.size() && text.substr(i).starts_with("[:")) {
      const std::size_t end = text.find(":]", i + 2);
      if (end != text.npos) i = end + 1;
    }
  }
  return std::min(i + 1, text.size());
}

Result<Pattern> Pattern::parse(std::string_view text) {
  if (text.size() > ExpressionBounds::kPatternBytesMax) {
    return invalid("a pattern has at most 4096 bytes", 0);
  }
  Pattern pattern(text);
  if (auto found = pattern.find_groups(); !found) return found.error();
  if (auto checked = pattern.check_names(); !checked) return checked.error();
  const re2::RE2 compiled(pattern.expression(pattern.group_names()), expression_options(1));
  if (!compiled.ok()) return refused(compiled, text);
  return pattern;
}

Result<void> check_pattern_memory(std::string_view text, std::size_t rules) {
  const auto most = ExpressionBounds::memory_of(rules);
  if (most == ExpressionBounds::kMemoryMax) return {};
  const auto pattern = Pattern::parse(text);
  if (!pattern) return pattern.error();
  const std::string expression = pattern.value().expression(pattern.value().group_names());
  if (re2::RE2(expression, expression_options(rules)).ok()) return {};
  return invalid("of " + std::to_string(rules) + " rules a pattern has at most " +
                     std::to_string(most / 1024) + " KiB of RE2's memory",
                 0);
}

Result<void> Pattern::find_groups() {
  std::vector<std::size_t> open;
  for (std::size_t at = 0; at < text_.size();) {
    auto end = read_one(at, open);
    if (!end) return end.error();
    at = end.value();
  }
  if (!open.empty()) return invalid("a ( has no )", open.back());
  return {};
}

// Returns the place after it. RE2 does not say where a parenthesis is missing.
Result<std::size_t> Pattern::read_one(std::size_t at, std::vector<std::size_t>& open) {
  switch (text_[at]) {
    case '\\':
      return read_escape(at);
    case '[':
      return class_end(text_, at);
    case '(':
      open.push_back(at);
      return read_open(at);
    case ')':
      if (open.empty()) return invalid("a ) has no (", at);
      open.pop_back();
      return at + 1;
    default:
      return at + 1;
  }
}

Result<std::size_t> Pattern::read_escape(std::size_t at) const {
  const char next = at + 1 < text_.size() ? text_[at + 1] : '\0';
  if (next >= '1' && next <= '9') return invalid("RE2 has no back-references", at);
  if (next == 'Q') {
    const std::size_t end = text_.find("\\E", at);
    return end == text_.npos ? text_.size() : end + 2;
  }
  return std::min(at + 2, text_.size());
}

Result<std::size_t> Pattern::read_open(std::size_t at) {
  const std::string_view rest = std::string_view(text_).substr(at);
  if (!rest.starts_with("(?")) {
    groups_.push_back({"", at, at + 1});
    return at + 1;
  }
  if (rest.starts_with("(?<=") || rest.starts_with("(?<!")) {
    return invalid("RE2 has no look-behind", at);
  }
  if (rest.starts_with("(?=") || rest.starts_with("(?!")) {
    return invalid("RE2 has no look-ahead", at);
  }
  if (rest.starts_with("(?P=") || rest.starts_with("(?P>")) {
    return invalid("RE2 has no back-references", at);
  }
  const std::size_t name_at = rest.starts_with("(?P<") ? 4 : rest.starts_with("(?<") ? 3 : 0;
  if (name_at == 0) return at + 2;
  std::size_t end = name_at;
  while (end < rest.size() && is_word(rest[end])) ++end;
  if (end == name_at || end == rest.size() || rest[end] != '>') {
    return invalid("a group's name is letters, digits and _, as in (?<name>...)", at);
  }
  groups_.push_back({std::string(rest.substr(name_at, end - name_at)), at, at + end + 1});
  return at + end + 1;
}

Result<void> Pattern::check_names() const {
  for (auto each = groups_.begin(); each != groups_.end(); ++each) {
    const bool is_second =
        !each->name.empty() && std::any_of(groups_.begin(), each, [&](const Group& other) {
          return other.name == each->name;
        });
    if (is_second) return invalid("a second group of the name " + each->name, each->begin);
  }
  return {};
}

bool Pattern::has_group(std::string_view name) const {
  return std::ranges::find(groups_, name, &Group::name) != groups_.end() && !name.empty();
}

std::vector<std::string> Pattern::group_names() const {
  std::vector<std::string> names;
  for (const Group& each : groups_) {
    if (!each.name.empty()) names.push_back(each.name);
  }
  return names;
}

std::vector<std::string> Pattern::groups(const std::vector<std::string>& used) const {
  std::vector<std::string> names = group_names();
  std::erase_if(
      names, [&](const std::string& name) { return std::ranges::find(used, name) == used.end(); });
  return names;
}

std::string Pattern::expression(const std::vector<std::string>& used) const {
  std::string out;
  std::size_t at = 0;
  for (const Group& each : groups_) {
    out.append(text_, at, each.begin - at);
    const bool is_used = !each.name.empty() && std::ranges::find(used, each.name) != used.end();
    out.append(is_used ? "(" : "(?:");
    at = each.end;
  }
  return out.append(text_, at);
}

}  // namespace tallyfs::logs
