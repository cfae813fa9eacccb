// Finds which rules take a line. Of four patterns or more RE2::Set finds in one pass which match;
// only those are matched again, for their groups. Fewer are tried one by one, which costs less:
// most are decided within a few bytes.
//
// Linear in the line's length, whatever patterns and lines are. Confined to one thread; the rules
// must outlive it.
#pragma once

#include <re2/re2.h>
#include <re2/set.h>

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "feeders/log/rules/rule_expression.h"
#include "feeders/log/rules/rules.h"

namespace tallyfs::logs {

class RuleSet {
 public:
  explicit RuleSet(const std::vector<Rule>& rules);

  // Calls visit(rule, groups) for each rule that takes the line, in their order, up to the first
  // match! that does. groups[0] is not used. A group without data() took no part.
  template <typename Visit>
  void each_match(std::string_view line, Visit visit);

 private:
  // Leaves those that match, or all that might, in matched_.
  void find(std::string_view line);

  const std::vector<Rule>& rules_;
  std::vector<std::unique_ptr<RuleExpression>> expressions_;
  std::unique_ptr<re2::RE2::Set> set_;  // of many rules
  std::vector<int> matched_;
  bool are_known_ = false;  // of those in matched_ it is known that they match
  std::vector<re2::StringPiece> groups_;
};

template <typename Visit>
void RuleSet::each_match(std::string_view line, Visit visit) {
  find(line);
  for (const int each : matched_) {
    const auto place = static_cast<std::size_t>(each);
    const Rule& rule = rules_[place];
    const bool needs_match = !are_known_ || rule.groups != 0;
    if (needs_match && !expressions_[place]->match(line, groups_.data())) continue;
    visit(rule, groups_.data());
    if (rule.is_last) return;
  }
}

}  // namespace tallyfs::logs
