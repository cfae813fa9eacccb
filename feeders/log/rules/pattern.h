// A pattern of a rule: the syntax of RE2, with (?<name>...) for a group. Patterns match bytes, so
// that a line which is not UTF-8 hides from none.
//
// Only groups that an action uses are captured: the fewer there are, the faster RE2 captures.
// Pure functions and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tallyfs::logs {

// Names of groups have these bytes.
constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The place after the class of bytes, as `[a-z[:digit:]]`, that begins at `at`.
std::size_t class_end(std::string_view text, std::size_t at);

class Pattern {
 public:
  // kInvalid with the place: look-around, a back-reference, or what RE2 refuses.
  static Result<Pattern> parse(std::string_view text);

  const std::string& text() const { return text_; }  // as it was written
  bool has_group(std::string_view name) const;
  std::vector<std::string> group_names() const;
  // The text for RE2 has the groups of these names, as 1, 2, ... in the order of groups().
  std::string expression(const std::vector<std::string>& used) const;
  // Which of these there are, in the order of the pattern.
  std::vector<std::string> groups(const std::vector<std::string>& used) const;

 private:
  struct Group {
    std::string name;       // empty: it has none
    std::size_t begin = 0;  // its opening: "(", "(?<name>" or "(?P<name>"
    std::size_t end = 0;
  };
  explicit Pattern(std::string_view text) : text_(text) {}
  Result<void> find_groups();
  Result<std::size_t> read_one(std::size_t at, std::vector<std::size_t>& open);
  Result<std::size_t> read_open(std::size_t at);
  Result<std::size_t> read_escape(std::size_t at) const;
  Result<void> check_names() const;

  std::string text_;
  std::vector<Group> groups_;
};

// kInvalid: RE2 needs more memory for the pattern, which parse() takes, than it has where there are
// so many rules.
Result<void> check_pattern_memory(std::string_view text, std::size_t rules);

// The bounds with which this room compiles all expressions.
struct ExpressionBounds {
  static constexpr std::size_t kPatternBytesMax = 4'096;
  static constexpr std::int64_t kMemoryMax = 1 << 20;  // of one expression
  // All expressions share this memory, and a set of them the next. While rules are read again there
  // are two of each, and the service has 256 MiB.
  static constexpr std::int64_t kAllMemoryMax = 32 << 20;
  static constexpr std::int64_t kSetMemoryMax = 32 << 20;

  static constexpr std::int64_t memory_of(std::size_t rules) {
    const auto most = kAllMemoryMax / static_cast<std::int64_t>(rules == 0 ? 1 : rules);
    return most < kMemoryMax ? most : kMemoryMax;
  }
};

}  // namespace tallyfs::logs
