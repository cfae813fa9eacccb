#include "core/statistics/branch/rules.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "core/base/labels.h"
#include "core/base/text.h"
#include "core/statistics/definition/change.h"
#include "core/statistics/definition/unread_words.h"

namespace tallyfs::statistics {
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

std::vector<std::string> sorted_texts(const std::vector<Rule>& rules) {
  std::vector<std::string> texts;
  texts.reserve(rules.size());
  for (const Rule& rule : rules) texts.push_back(rule.text());
  std::sort(texts.begin(), texts.end());
  return texts;
}

// How many of `those` are not among `all`; both are sorted.
std::size_t count_missing(const std::vector<std::string>& all,
                          const std::vector<std::string>& those) {
  std::vector<std::string> missing;
  std::set_difference(those.begin(), those.end(), all.begin(), all.end(),
                      std::back_inserter(missing));
  return missing.size();
}

}  // namespace

FirstBytes FirstBytes::of(std::string_view text) {
  FirstBytes first;
  const std::size_t size = std::min(text.size(), sizeof first.bits);
  std::memcpy(&first.bits, text.data(), size);
  std::memset(&first.mask, 0xff, size);
  return first;
}

Result<Rule> Rule::parse(std::string_view line, Strictness strictness) {
  Tokens tokens(line);
  const auto pattern = tokens.next_path();
  if (!pattern) return invalid("a rule begins with a pattern", 0);
  Rule rule;
  rule.pattern_ = stored_pattern(pattern->text);
  if (std::ranges::count(rule.pattern_, '/') != 1 || rule.pattern_.find('=') != std::string::npos) {
    return at(*pattern, "a pattern is INTERFACE/STATISTIC, with the wildcards of the shell");
  }
  const std::string_view stored = rule.pattern_;
  rule.literal_bytes_ = std::min(stored.find_first_of(kWildcards), stored.size());
  rule.first_bytes_ = FirstBytes::of(stored.substr(0, rule.literal_bytes_));
  rule.text_ = stored;
  // For parse_change(), with the caret where it belongs: view= is none of its keys.
  std::string definition(pattern->at + pattern->text.size(), ' ');
  definition.append(tokens.rest().text);
  while (const auto token = tokens.next()) {
    rule.text_.append(" ").append(token->text);
    if (token->text.starts_with(kView)) {
      if (!rule.suffix_.empty()) return at(*token, "view is given twice");
      rule.suffix_ = token->text.substr(kView.size());
      if (!is_name(rule.suffix_)) return at(*token, "view must be the end of a name");
      definition.replace(token->at, token->text.size(), token->text.size(), ' ');
    } else if (token->text.starts_with("undo=")) {
      return at(*token, "undo= is no rule");
    } else if (token->text.starts_with("name=") || token->text.starts_with("of=")) {
      return at(*token, "the pattern says which statistic is meant");
    } else if (token->text.find('=') == std::string_view::npos) {
      return at(*token, "a rule has KEY=VALUE behind its pattern");
    } else if (!is_strict_mark(token->text)) {
      rule.attributes_.append(" ").append(token->text);
    }
  }
  if (rule.attributes_.empty() && rule.suffix_.empty()) {
    return at(*pattern, "a rule has KEY=VALUE behind its pattern");
  }
  const auto change = parse_change(definition, strictness);
  if (!change) return change.error();
  const auto attributes = check_alone(change.value());
  if (!attributes) return attributes.error();
  if (change.value().is_strict) {
    if (auto read = check_all_read(definition, attributes.value()); !read) return read.error();
  }
  // People write rules, and read decimal numbers.
  const auto& type = change.value().type;
  const bool is_list = type && std::holds_alternative<ListSettings>(type->value);
  if (is_list && !change.value().base) rule.attributes_.append(" base=10");
  return rule;
}

bool Rule::matches(const std::string& path) const {
  const std::string_view literal = std::string_view(pattern_).substr(0, literal_bytes_);
  if (!path.starts_with(literal)) return false;
  if (literal_bytes_ == pattern_.size()) return path.size() == pattern_.size();
  return ::fnmatch(pattern_.c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

std::optional<Rule> Rule::in(std::string_view line) {
  auto rule = parse(without_comment(line));
  return rule ? std::optional(std::move(rule).value()) : std::nullopt;
}

std::string Rule::line_for(std::string_view statistic) const {
  std::string line("name=");
  line.append(statistic);
  if (!suffix_.empty()) line.append("_").append(suffix_).append(" of=").append(statistic);
  return line + attributes_;
}

Result<void> Rules::add(std::string_view line, Strictness strictness) {
  return add(line, written_, strictness);
}

Result<void> Rules::add(std::string_view line, std::vector<Rule>& to, Strictness strictness) {
  line = without_comment(line);
  if (trimmed(line).empty()) return {};
  auto rule = Rule::parse(line, strictness);
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

Rules::Reading Rules::replace_file(std::string_view text) {
  begin_write();
  const std::vector<std::string> before = sorted_texts(from_file_);
  for (const Rule& rule : from_file_) bytes_ -= rule.text().size() + 1;
  from_file_.clear();
  Reading reading;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (auto added = add(line, from_file_, Strictness::kStrict); !added) {
      reading.refused.push_back({number, std::string(line), added.error()});
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const std::vector<std::string> after = sorted_texts(from_file_);
  reading.rules = after.size();
  reading.added = count_missing(before, after);
  reading.gone = count_missing(after, before);
  return reading;
}

void Rules::begin_write() {
  line_ = 0;
  former_.reset();
  is_refused_ = false;
}

void Rules::begin_replacement() {
  begin_write();
  former_ =
      Former{std::exchange(from_file_, {}), std::exchange(written_, {}), std::exchange(bytes_, 0)};
}

Result<void> Rules::write(std::string_view line) {
  ++line_;
  if (is_refused_) {
    const auto text = without_comment(line);
    if (trimmed(text).empty()) return {};
    if (const auto rule = Rule::parse(text); !rule) return refuse(rule.error());
    return {};
  }
  const auto added = add(line, written_, Strictness::kStrict);
  if (!added) return refuse(added.error());
  return {};
}

Result<void> Rules::write_apply() {
  ++line_;
  if (!former_ || (!is_refused_ && !written_.empty())) return {};
  return refuse(invalid("> replaces the rules, and there is none to apply: use >>", 0));
}

Error Rules::refuse(Error error) {
  error.location = std::string("rules:").append(std::to_string(line_));
  if (!former_) return error;
  error.reason.append("; the rules stay as they were");
  give_up_replacement();
  return error;
}

void Rules::give_up_replacement() {
  if (!former_ || std::exchange(is_refused_, true)) return;
  from_file_ = std::move(former_->from_file);
  written_ = std::move(former_->written);
  bytes_ = former_->bytes;
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

}  // namespace tallyfs::statistics
