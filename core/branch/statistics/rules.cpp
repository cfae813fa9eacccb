#include "core/branch/statistics/rules.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/text.h"
#include "core/definition/change.h"

namespace tallyfs {
namespace {

constexpr std::string_view kWildcards = "*?[\\";
constexpr std::string_view kView = "view=";

Error at(const Token& token, std::string reason) {
  return {ErrorCode::kInvalid, std::move(reason), token.at};
}

// A `#` within a token is part of a name.
std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t') return line.substr(0, at);
  }
  return line;
}

}  // namespace

FirstBytes FirstBytes::of(std::string_view text) {
  FirstBytes first;
  const std::size_t size = std::min(text.size(), sizeof first.bits);
  std::memcpy(&first.bits, text.data(), size);
  std::memset(&first.mask, 0xff, size);
  return first;
}

Result<Rule> Rule::parse(std::string_view line) {
  Tokens tokens(line);
  const auto pattern = tokens.next();
  if (!pattern) return invalid("a rule begins with a pattern", 0);
  if (std::count(pattern->text.begin(), pattern->text.end(), '/') != 1 ||
      pattern->text.find('=') != std::string_view::npos) {
    return at(*pattern, "a pattern is INTERFACE/STATISTIC, with the wildcards of the shell");
  }
  Rule rule;
  rule.pattern_ = pattern->text;
  rule.literal_bytes_ = std::min(pattern->text.find_first_of(kWildcards), pattern->text.size());
  rule.first_bytes_ = FirstBytes::of(pattern->text.substr(0, rule.literal_bytes_));
  rule.text_ = pattern->text;
  // For parse_change(), with the caret where it belongs: view= is none of its keys.
  std::string definition(pattern->at + pattern->text.size(), ' ');
  definition.append(tokens.rest().text);
  while (const auto token = tokens.next()) {
    rule.text_.append(" ").append(token->text);
    if (token->text.starts_with(kView)) {
      rule.suffix_ = token->text.substr(kView.size());
      if (!is_name(rule.suffix_)) return at(*token, "view must be the end of a name");
      definition.replace(token->at, token->text.size(), token->text.size(), ' ');
    } else if (token->text.starts_with("name=") || token->text.starts_with("of=")) {
      return at(*token, "the pattern says which statistic is meant");
    } else if (token->text.find('=') == std::string_view::npos) {
      return at(*token, "a rule has KEY=VALUE behind its pattern");
    } else {
      if (find_ignored_key(token->text, Types().set())) return at(*token, "there is no such key");
      rule.attributes_.append(" ").append(token->text);
    }
  }
  if (rule.attributes_.empty() && rule.suffix_.empty()) {
    return at(*pattern, "a rule has KEY=VALUE behind its pattern");
  }
  if (const auto change = parse_change(definition); !change) return change.error();
  return rule;
}

bool Rule::matches(const std::string& path) const {
  const std::string_view literal = std::string_view(pattern_).substr(0, literal_bytes_);
  if (!path.starts_with(literal)) return false;
  if (literal_bytes_ == pattern_.size()) return path.size() == pattern_.size();
  return ::fnmatch(pattern_.c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

std::string Rule::line_for(std::string_view statistic) const {
  std::string line("name=");
  line.append(statistic);
  if (!suffix_.empty()) line.append("_").append(suffix_).append(" of=").append(statistic);
  return line + attributes_;
}

Result<void> Rules::add(std::string_view line) { return add(line, written_); }

Result<void> Rules::add(std::string_view line, std::vector<Rule>& to) {
  line = without_comment(line);
  if (trimmed(line).empty()) return {};
  auto rule = Rule::parse(line);
  if (!rule) return rule.error();
  const std::size_t bytes = rule.value().text().size() + 1;
  if (from_file_.size() + written_.size() >= kRulesBound || bytes_ + bytes > kBytesBound) {
    return Error{ErrorCode::kNoSpace,
                 "there are at most " + std::to_string(kRulesBound) + " rules, of " +
                     std::to_string(kBytesBound) + " bytes",
                 0};
  }
  bytes_ += bytes;
  to.push_back(std::move(rule.value()));
  return {};
}

std::vector<Rules::Fault> Rules::replace_file(std::string_view text) {
  for (const Rule& rule : from_file_) bytes_ -= rule.text().size() + 1;
  from_file_.clear();
  std::vector<Fault> faults;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (auto added = add(text.substr(0, end), from_file_); !added) {
      faults.push_back({number, added.error()});
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return faults;
}

void Rules::clear() {
  from_file_.clear();
  written_.clear();
  bytes_ = 0;
}

std::string Rules::text() const {
  std::string text;
  for (const std::vector<Rule>* const some : {&from_file_, &written_}) {
    for (const Rule& rule : *some) text.append(rule.text()).push_back('\n');
  }
  return text;
}

std::vector<std::string> Rules::written() const {
  std::vector<std::string> texts;
  texts.reserve(written_.size());
  for (const Rule& rule : written_) texts.push_back(rule.text());
  return texts;
}

void Rules::forget_failures() {
  for (std::vector<Rule>* const some : {&from_file_, &written_}) {
    for (Rule& rule : *some) rule.forget_failure();
  }
}

}  // namespace tallyfs
