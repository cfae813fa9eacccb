// Rules: definitions for statistics that do not exist yet. A rule is a line `PATTERN KEY=VALUE
// ...`: a glob of the shell over INTERFACE/STATISTIC, in which `*` does not match the slash, and
// what a definition line may say without name=. view=SUFFIX makes it a rule for the view
// STATISTIC_SUFFIX instead. `#` begins a comment. Labels in a pattern may be typed as labels.h
// says; it is kept as stored_pattern().
//
// Rules from the file of --rules come first, and can be replaced without the others. A write that
// replaces all rules takes effect whole or not at all. Patterns are taken apart once: few of them
// are compared beyond the text before their first wildcard, and most not beyond the first eight
// bytes of it. At most kRulesBound, and kBytesBound of text. Confined to the lock of
// StatisticsBranch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/statistics/definition/strict_words.h"

namespace tallyfs::statistics {

// The first eight bytes of a text, or of what a text must begin with, to be compared in one step.
struct FirstBytes {
  std::uint64_t bits = 0;
  std::uint64_t mask = 0;  // of the bytes that there are

  static FirstBytes of(std::string_view text);
  bool begin(const FirstBytes& text) const { return ((bits ^ text.bits) & mask) == 0; }
};

class Rule {
 public:
  // kInvalid, with the token. Strict: so is one that nothing would read.
  static Result<Rule> parse(std::string_view line, Strictness strictness = Strictness::kStrict);

  // Parses a written line; nullopt: it is not a rule, as a comment.
  static std::optional<Rule> in(std::string_view line);

  // As parse() takes it.
  const std::string& text() const { return text_; }
  // path: INTERFACE/STATISTIC, first_bytes: its own.
  bool matches(const std::string& path, const FirstBytes& first_bytes) const {
    return first_bytes_.begin(first_bytes) && matches(path);
  }
  // The rule for a statistic of that name, as a line of its definition file.
  std::string line_for(std::string_view statistic) const;
  // The suffix of the view that it makes; empty: the rule is for the statistic itself.
  const std::string& suffix() const { return suffix_; }
  // Its attributes, as a text that makes a statistic.
  const std::string& attributes() const { return attributes_; }

  // The first failure since the rule came: only that one is told.
  bool tell_failure() { return !std::exchange(has_failed_, true); }
  void forget_failure() { has_failed_ = false; }

 private:
  bool matches(const std::string& path) const;

  FirstBytes first_bytes_;  // of the literal bytes
  std::string text_;
  std::string pattern_;
  std::size_t literal_bytes_ = 0;  // of the pattern, before the first wildcard
  std::string suffix_;
  std::string attributes_;
  bool has_failed_ = false;
};

class Rules {
 public:
  static constexpr std::size_t kRulesBound = 1024;
  static constexpr std::size_t kBytesBound = 65'536;
  // The place in error_log of a refused line of the file, before FILE:LINE.
  static constexpr const char* kFileEntry = "--rules ";

  struct RefusedLine {
    std::size_t number = 0;  // counted from 1
    std::string text;
    Error error;
  };
  // The result of reading a file.
  struct Reading {
    std::size_t rules = 0;  // in force
    std::size_t added = 0;  // of them, those that were not there before
    std::size_t gone = 0;
    std::vector<RefusedLine> refused;
  };

  // One line. An empty one, and a comment, is no rule. kInvalid, with the token; kNoSpace. What was
  // saved may be of a version that took more.
  Result<void> add(std::string_view line, Strictness strictness = Strictness::kStrict);
  // The text of the file: replaces what came from it before. Refused lines are left out.
  Reading replace_file(std::string_view text);

  // Begins a write, whose first line is line 1. It adds to the rules that there are.
  void begin_write();
  // As begin_write(), but the write replaces them: all of it, or nothing. A line that is refused
  // gives the replacement up.
  void begin_replacement();
  // Ends the replacement: the former rules are back, and its further lines are only checked.
  void give_up_replacement();
  // One line that is written. As add(), and at location stands its number.
  Result<void> write(std::string_view line);
  // As write(), for the line `apply`. kInvalid: what is written has replaced the rules, and none
  // has come yet.
  Result<void> write_apply();

  // One rule a line; what add() takes.
  std::string text() const;
  // The texts of those that do not come from the file.
  std::vector<std::string> written() const;
  bool empty() const { return from_file_.empty() && written_.empty(); }
  // Visits the rules that match, in their order.
  template <typename Visit>
  void each_match(const std::string& path, Visit visit) {
    const FirstBytes first_bytes = FirstBytes::of(path);
    for (std::vector<Rule>* const some : {&from_file_, &written_}) {
      for (Rule& rule : *some) {
        if (rule.matches(path, first_bytes)) visit(rule);
      }
    }
  }
  void forget_failures();

 private:
  struct Former {
    std::vector<Rule> from_file;
    std::vector<Rule> written;
    std::size_t bytes = 0;
  };

  Result<void> add(std::string_view line, std::vector<Rule>& to, Strictness strictness);
  Error refuse(Error error);

  std::vector<Rule> from_file_;
  std::vector<Rule> written_;
  std::size_t bytes_ = 0;
  std::size_t line_ = 0;          // of what is written
  std::optional<Former> former_;  // while it replaces them
  bool is_refused_ = false;       // and they are back
};

}  // namespace tallyfs::statistics
