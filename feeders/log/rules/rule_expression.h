// The expression of one rule, compiled. A match is the leftmost one, as RE2 finds it; where the
// expression begins with a byte that must be there, the search begins at that byte, which spares
// RE2 the way to it and its search for the begin. Linear in the line's length. Confined to one
// thread.
#pragma once

#include <re2/re2.h>

#include <optional>
#include <string>
#include <string_view>

#include "feeders/log/rules/rules.h"

namespace tallyfs::logs {

class RuleExpression {
 public:
  // rules: how many there are.
  RuleExpression(const Rule& rule, std::size_t rules);

  // groups: room for Rule::groups + 1; those that took no part have no data().
  bool match(std::string_view line, re2::StringPiece* groups) const;

 private:
  re2::RE2 expression_;
  int captured_;  // 0, or the groups and the whole
  std::optional<char> first_;
};

// The byte with which each match of the expression begins, if it is easily seen.
std::optional<char> first_byte_of(std::string_view expression);

}  // namespace tallyfs::logs
