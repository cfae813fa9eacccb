// The file `rules` at the root of the mount, and how rules are applied.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/statistics/branch/statistics_branch.h"
#include "core/tree/file.h"

namespace tallyfs::statistics {
namespace {

// The error log keeps few entries: a bad file must not take all of them.
constexpr std::size_t kRefusedLinesShown = 4;
// Of the statistics that a new rule may match, under the lock.
constexpr std::size_t kLookedAtMax = 10'000;

// A view has no views.
bool would_change(const Rule& rule, const Interface& interface, const std::string& name) {
  const std::string view = name + "_" + rule.suffix();
  if (!rule.suffix().empty()) return !interface.is_view(name) && !interface.is_view(view);
  const auto differs = interface.difference(name, rule.attributes(), Strictness::kStrict);
  return differs && !differs.value().empty();
}

}  // namespace

// Called from several threads; the branch's lock is the only one that it takes.
class StatisticsBranch::RulesFile final : public File, private LineReviewer {
 public:
  explicit RulesFile(StatisticsBranch& statistics) : statistics_(statistics) {}

  Result<std::string> render(const CallContext&, std::size_t bytes_max) const override {
    const MutexLock lock(statistics_.mutex_);
    std::string text = statistics_.rules_.text();
    if (text.size() > bytes_max) return Error{ErrorCode::kNoSpace, "the text would be too long"};
    return text;
  }
  Timestamp last_change(Timestamp) const override {
    const MutexLock lock(statistics_.mutex_);
    return statistics_.rules_changed_;
  }
  // Whatever is opened for writing ends the replacement before it, if it was one.
  Result<std::shared_ptr<const void>> hold(Access access, Timestamp) const override {
    if (access != Access::kRead) {
      const MutexLock lock(statistics_.mutex_);
      statistics_.rules_.begin_write();
      has_remarked_ = false;
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
  LineReviewer* reviewer() override { return this; }
  Result<void> truncate(const CallContext& call) override {
    const MutexLock lock(statistics_.mutex_);
    statistics_.rules_.begin_replacement();
    statistics_.rules_changed_ = call.now;
    return {};
  }

 private:
  // Once a write, as the error log keeps few entries.
  std::optional<Error> remark(std::string_view line) const override {
    const MutexLock lock(statistics_.mutex_);
    if (has_remarked_) return std::nullopt;
    const auto unlike = statistics_.first_unlike(line);
    if (!unlike) return std::nullopt;
    has_remarked_ = true;
    return invalid("what is there stays as it is, as " + *unlike +
                       "; to apply all rules to it: echo apply >> rules",
                   0);
  }
  void note_refused_line() override {
    const MutexLock lock(statistics_.mutex_);
    statistics_.rules_.give_up_replacement();
  }

  StatisticsBranch& statistics_;
  mutable bool has_remarked_ = false;  // guarded by the branch's lock
};

void StatisticsBranch::enter_rules(Timestamp now) {
  rules_changed_ = now;
  rules_file_ = tree_.add_file(Tree::kRoot, "rules",
                               {.permissions = 0600, .readers = true, .writers = true},
                               std::make_shared<RulesFile>(*this), now);
}

Rules::Reading StatisticsBranch::take_rules(const std::string& path, std::string_view text,
                                            Timestamp now) {
  const MutexLock lock(mutex_);
  rules_changed_ = now;
  auto reading = rules_.replace_file(text);
  if (!errors_) return reading;
  const std::size_t refused = reading.refused.size();
  for (std::size_t i = 0; i < std::min(refused, kRefusedLinesShown); ++i) {
    const Rules::RefusedLine& line = reading.refused[i];
    Error error = line.error;
    if (i + 1 == kRefusedLinesShown && refused > kRefusedLinesShown) {
      error.reason.append("; lines refused besides: ")
          .append(std::to_string(refused - kRefusedLinesShown))
          .append(", see the log");
    }
    const std::string place = Rules::kFileEntry + path + ":" + std::to_string(line.number);
    errors_->report(ErrorLog::kDaemon, place, line.text, error, now);
  }
  return reading;
}

void StatisticsBranch::apply_rules(const StatisticEntry& entry, Timestamp now, Interface::By by) {
  if (rules_.empty()) return;
  const std::string path = PathNaming::name(entry);
  rules_.each_match(path, [&](Rule& rule) {
    const std::string line = rule.line_for(entry.statistic->name());
    Interface& interface = *entry.owner->interface;
    const auto done = interface.define(line, now, by);
    // Of what took effect: as a key that this type does not have.
    const std::optional<Error> fault = done ? interface.remark(line) : done.error();
    if (!fault || !errors_ || !rule.tell_failure()) return;
    const auto tell = done ? &ErrorLog::warn : &ErrorLog::report;
    (errors_->*tell)(ErrorLog::kDaemon, "rules, for " + path, line, *fault, now);
  });
}

std::vector<std::string> StatisticsBranch::lines_of_rules(const std::string& path,
                                                          std::string_view statistic) {
  std::vector<std::string> lines;
  rules_.each_match(path, [&](const Rule& rule) { lines.push_back(rule.line_for(statistic)); });
  return lines;
}

std::optional<std::string> StatisticsBranch::first_unlike(std::string_view line) const {
  const auto rule = Rule::in(line);
  if (!rule) return std::nullopt;
  std::size_t looked_at = 0;
  for (const auto& [key, entry] : interfaces_) {
    if (entry->name == kOwnName) continue;
    for (const Statistic* const statistic : entry->interface->statistics()) {
      if (looked_at++ == kLookedAtMax) return std::nullopt;
      const std::string path = entry->name + "/" + statistic->name();
      if (!rule->matches(path, FirstBytes::of(path))) continue;
      if (would_change(*rule, *entry->interface, statistic->name())) return path;
    }
  }
  return std::nullopt;
}

// To all that is there, once; each failure is told. The daemon's own numbers stay as they are.
void StatisticsBranch::apply_rules(Timestamp now) {
  for (const auto& [key, interface] : interfaces_) {
    if (interface->name == kOwnName) continue;
    for (Statistic* const statistic : interface->interface->statistics()) {
      rules_.forget_failures();
      const StatisticEntry entry{.statistic = statistic, .owner = interface.get()};
      apply_rules(entry, now, Interface::By::kUser);
    }
  }
}

}  // namespace tallyfs::statistics
