#include "core/tracing/filter/filter.h"

#include <algorithm>

#include "core/model/record.h"

namespace tallyfs::tracing {
namespace {

// Whether the class that starts behind '[' at `at` contains c. Moves `at` behind the ']'; npos:
// there is no ']'.
bool class_matches(std::string_view pattern, std::size_t& at, char c) {
  const bool inverted = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  if (inverted) ++at;
  bool found = false;
  for (const std::size_t start = at; at < pattern.size(); ++at) {
    if (pattern[at] == ']' && at > start) {
      ++at;
      return found != inverted;
    }
    char last = pattern[at];
    const char first = last;
    if (at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']') {
      last = pattern[at + 2];
      at += 2;
    }
    found |= first <= c && c <= last;
  }
  at = pattern.npos;
  return false;
}

// Compares one character of text with one element of the pattern, and moves `at` behind that
// element.
bool element_matches(std::string_view pattern, std::size_t& at, char c) {
  const char element = pattern[at++];
  if (element == '?') return true;
  if (element == '[') {
    std::size_t behind = at;
    const bool found = class_matches(pattern, behind, c);
    if (behind == pattern.npos) return c == '[';
    at = behind;
    return found;
  }
  if (element == '\\' && at < pattern.size()) return pattern[at++] == c;
  return element == c;
}

}  // namespace

// Only the last of several stars is ever extended, so there is no recursion.
bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t at = 0, star = pattern.npos, retry = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = ++at;
      retry = i;
      continue;
    }
    if (at < pattern.size() && element_matches(pattern, at, text[i])) {
      ++i;
      continue;
    }
    if (star == pattern.npos) return false;
    at = star;
    i = ++retry;
  }
  while (at < pattern.size() && pattern[at] == '*') ++at;
  return at == pattern.size();
}

bool Filter::uses_comm() const {
  return std::ranges::any_of(
      terms_, [](const Term& term) { return term.source.kind == TextSource::Kind::kComm; });
}

bool Filter::number_holds(const Term& term, std::uint64_t value) {
  const auto left = static_cast<std::int64_t>(value);
  const auto right = static_cast<std::int64_t>(term.number);
  const bool less = term.is_signed ? left < right : value < term.number;
  switch (term.compare) {
    case Compare::kEqual:
      return value == term.number;
    case Compare::kUnequal:
      return value != term.number;
    case Compare::kLess:
      return less;
    case Compare::kLessEqual:
      return less || value == term.number;
    case Compare::kGreater:
      return !less && value != term.number;
    case Compare::kGreaterEqual:
      return !less;
    default:
      return (value & term.number) != 0;
  }
}

bool Filter::text_holds(const Term& term, std::string_view text) {
  switch (term.compare) {
    case Compare::kTextEqual:
      return text == term.text;
    case Compare::kTextUnequal:
      return text != term.text;
    case Compare::kGlob:
      return glob_matches(term.text, text);
    default:
      return !glob_matches(term.text, text);
  }
}

// A number counts as a set of one CPU.
bool Filter::cpus_hold(const Term& term, const EventRecord& record) {
  const bool meet = term.compare == Compare::kCpusMeet;
  if (term.is_mask) {
    const std::string_view mask = term.source.read(record, nullptr);
    if (meet) return term.cpus->intersects(mask);
    return term.cpus->equals(mask) == (term.compare == Compare::kCpusEqual);
  }
  const std::uint64_t cpu = Program::load(term.load, record, nullptr);
  if (meet) return term.cpus->has(cpu);
  return term.cpus->is_only(cpu) == (term.compare == Compare::kCpusEqual);
}

bool Filter::holds(const Term& term, const EventRecord& record) {
  if (term.compare <= Compare::kAnd) {
    return number_holds(term, Program::load(term.load, record, nullptr));
  }
  if (term.compare >= Compare::kCpusMeet) return cpus_hold(term, record);
  return text_holds(term, term.source.whole(record, nullptr));
}

}  // namespace tallyfs::tracing
