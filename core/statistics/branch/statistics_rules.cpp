// The file `rules` at the root of the mount, and how rules are applied.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/statistics/branch/statistics_branch.h"
#include "core/tree/file.h"

namespace tallyfs {
namespace {

// The error log keeps few entries: a bad file must not take all of them.
constexpr std::size_t kRefusedLinesShown = 4;

}  // namespace

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
  // Whatever is opened for writing ends the replacement before it, if it was one.
  Result<std::shared_ptr<const void>> hold(Access access, Moment) const override {
    if (access != Access::kRead) {
      const MutexLock lock(statistics_.mutex_);
      statistics_.rules_.begin_write();
    }
    return std::shared_ptr<const void>();
  }
  Result<void> write_line(std::string_view line, const CallContext& call) override {
    const MutexLock lock(statistics_.mutex_);
    statistics_.rules_changed_ = call.now;
    if (trimmed(line) != "apply") return statistics_.rules_.write(line);
    const auto allowed = statistics_.rules_.write_apply();
    if (allowed) statistics_.apply_rules(call.now);
    return allowed;
  }
  void note_refused_line() override {
    const MutexLock lock(statistics_.mutex_);
    statistics_.rules_.give_up_replacement();
  }
  Result<void> truncate(const CallContext& call) override {
    const MutexLock lock(statistics_.mutex_);
    statistics_.rules_.begin_replacement();
    statistics_.rules_changed_ = call.now;
    return {};
  }

 private:
  StatisticsBranch& statistics_;
};

void StatisticsBranch::enter_rules(Moment now) {
  rules_changed_ = now;
  rules_file_ = tree_.add_file(Tree::kRoot, "rules", 0600 | kForWriteGroup,
                               std::make_shared<RulesFile>(*this), now);
}

Rules::Reading StatisticsBranch::take_rules(std::string_view text, Moment now) {
  const MutexLock lock(mutex_);
  rules_changed_ = now;
  auto reading = rules_.replace_file(text);
  if (!errors_) return reading;
  const std::size_t shown = std::min(reading.refused.size(), kRefusedLinesShown);
  for (const Rules::RefusedLine& line : std::span(reading.refused).first(shown)) {
    errors_->report(ErrorLog::kDaemon, "--rules:" + std::to_string(line.number), line.text,
                    line.error, now);
  }
  return reading;
}

void StatisticsBranch::apply_rules(const StatisticEntry& entry, Moment now, Interface::By by) {
  if (rules_.empty()) return;
  const std::string path = PathNaming::name(entry);
  rules_.each_match(path, [&](Rule& rule) {
    const std::string line = rule.line_for(entry.statistic->name());
    Interface& interface = *entry.owner->interface;
    const auto done = interface.define(line, now, by);
    // What is wrong, or a key that this type does not have.
    const std::optional<Error> fault = done ? interface.remark(line) : done.error();
    if (!fault || !errors_ || !rule.tell_failure()) return;
    errors_->report(ErrorLog::kDaemon, "rules, for " + path, line, *fault, now);
  });
}

std::vector<std::string> StatisticsBranch::lines_of_rules(const std::string& path,
                                                          std::string_view statistic) {
  std::vector<std::string> lines;
  rules_.each_match(path, [&](const Rule& rule) { lines.push_back(rule.line_for(statistic)); });
  return lines;
}

// To all that is there, once; each failure is told. The daemon's own numbers stay as they are.
void StatisticsBranch::apply_rules(Moment now) {
  for (const auto& [key, interface] : interfaces_) {
    if (interface->name == kOwnName) continue;
    for (Statistic* const statistic : interface->interface->statistics()) {
      rules_.forget_failures();
      const StatisticEntry entry{.statistic = statistic, .owner = interface.get()};
      apply_rules(entry, now, Interface::By::kUser);
    }
  }
}

}  // namespace tallyfs
