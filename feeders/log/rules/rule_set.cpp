#include "feeders/log/rules/rule_set.h"

#include <algorithm>
#include <numeric>

#include "feeders/log/rules/expression.h"

namespace tallyfs::logs {

namespace {
constexpr std::size_t kSetMin = 4;
}  // namespace

// parse_rules() has compiled each expression before, with all groups of its pattern.
RuleSet::RuleSet(const std::vector<Rule>& rules) : rules_(rules) {
  std::size_t groups_max = 0;
  for (const Rule& rule : rules) {
    expressions_.push_back(std::make_unique<RuleExpression>(rule, rules.size()));
    groups_max = std::max(groups_max, rule.groups);
  }
  groups_.resize(groups_max + 1);
  if (rules.size() < kSetMin) return;
  auto options = expression_options(rules.size());
  options.set_max_mem(ExpressionBounds::kSetMemoryMax);
  auto set = std::make_unique<re2::RE2::Set>(options, re2::RE2::UNANCHORED);
  for (const Rule& rule : rules) set->Add(rule.expression, nullptr);
  if (set->Compile()) set_ = std::move(set);
}

// Each rule is tried if there is no set, or its memory does not do for a line.
void RuleSet::find(std::string_view line) {
  if (set_) {
    re2::RE2::Set::ErrorInfo error{};
    matched_.clear();
    set_->Match({line.data(), line.size()}, &matched_, &error);
    are_known_ = error.kind == re2::RE2::Set::kNoError;
    if (are_known_) {
      std::ranges::sort(matched_);
      return;
    }
  }
  matched_.resize(rules_.size());
  std::iota(matched_.begin(), matched_.end(), 0);
}

}  // namespace tallyfs::logs
