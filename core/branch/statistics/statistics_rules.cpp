// The file `rules` at the root of the mount, and how rules are applied.
#include <optional>
#include <utility>

#include "core/branch/statistics/statistics_branch.h"
#include "core/tree/file.h"

namespace tallyfs {

// Called from several threads; the branch's lock is the only one that it takes.
class StatisticsBranch::RulesFile final : public File {
 public:
  explicit RulesFile(StatisticsBranch& statistics) : statistics_(statistics) {}

  Result<std::string> render(const CallContext&, std::size_t bytes_max) const override {
    const MutexLock lock(statistics_.mutex_);
    std::string text = statistics_.rules_.text();
    if (text.size() > bytes_max) return Error{ErrorCode::kNoSpace, "the text would be too long"};
    return text;
  }
  Moment last_change(Moment) const override {
    const MutexLock lock(statistics_.mutex_);
    return statistics_.rules_changed_;
  }
  Result<void> write_line(std::string_view line, const CallContext& call) override {
    const MutexLock lock(statistics_.mutex_);
    if (trimmed(line) == "apply") {
      statistics_.apply_rules(call.now);
      return {};
    }
    statistics_.rules_changed_ = call.now;
    auto added = statistics_.rules_.add(line);
    if (added) return {};
    added.error().location = "rules";
    return added;
  }
  Result<void> truncate(const CallContext& call) override {
    const MutexLock lock(statistics_.mutex_);
    statistics_.rules_.clear();
    statistics_.rules_changed_ = call.now;
    return {};
  }

 private:
  StatisticsBranch& statistics_;
};

void StatisticsBranch::enter_rules(Moment now) {
  rules_changed_ = now;
  rules_file_ = tree_.add_file(Tree::kRoot, "rules", 0600, std::make_shared<RulesFile>(*this), now);
}

std::vector<Rules::Fault> StatisticsBranch::take_rules(std::string_view text, Moment now) {
  const MutexLock lock(mutex_);
  rules_changed_ = now;
  return rules_.replace_file(text);
}

void StatisticsBranch::apply_rules(const StatisticEntry& entry, Moment now) {
  if (rules_.empty()) return;
  const std::string path = PathNaming::name(entry);
  rules_.each_match(path, [&](Rule& rule) {
    const std::string line = rule.line_for(entry.statistic->name());
    Interface& interface = *entry.owner->interface;
    const auto done = interface.define(line, now);
    // What is wrong, or a key that this type does not have.
    const std::optional<Error> fault = done ? interface.remark(line) : done.error();
    if (!fault || !errors_ || !rule.tell_failure()) return;
    errors_->report(ErrorLog::Source::kMount, "rules, for " + path, line, *fault, now);
  });
}

// To all that is there, once; each failure is told.
void StatisticsBranch::apply_rules(Moment now) {
  for (const auto& [key, interface] : interfaces_) {
    for (Statistic* const statistic : interface->interface->statistics()) {
      rules_.forget_failures();
      const StatisticEntry entry{.statistic = statistic, .owner = interface.get()};
      apply_rules(entry, now);
    }
  }
}

}  // namespace tallyfs
