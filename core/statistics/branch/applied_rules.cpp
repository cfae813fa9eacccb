#include "core/statistics/branch/applied_rules.h"

#include <utility>

#include "core/statistics/branch/command_text.h"
#include "core/wire/line.h"

namespace tallyfs::statistics {
namespace {

// The error log keeps few entries: a bad file must not take all of them.
constexpr std::size_t kRefusedLinesShown = 4;
// So many statistics that a new rule may match are looked at, under the lock.
constexpr std::size_t kLookedAtMax = 10'000;

// A view has no views.
bool would_change(const Rule& rule, const Interface& interface, const std::string& name) {
  const std::string view = name + "_" + rule.suffix();
  if (!rule.suffix().empty()) return !interface.is_view(name) && !interface.is_view(view);
  const auto differs = interface.difference(name, rule.attributes(), Strictness::kStrict);
  return differs && !differs.value().empty();
}

// Called from several threads; the branch's lock is the only one that it takes.
class RulesFile final : public File, private LineReviewer {
 public:
  RulesFile(Mutex& mutex, AppliedRules& rules) : mutex_(mutex), rules_(rules) {}

  Result<std::string> render(const CallContext&, std::size_t bytes_max) const override {
    const MutexLock lock(mutex_);
    std::string text = rules_.rules().text();
    if (text.size() > bytes_max) return Error{ErrorCode::kNoSpace, "the text would be too long"};
    return text;
  }
  Timestamp last_change(Timestamp) const override {
    const MutexLock lock(mutex_);
    return rules_.changed();
  }
  // Whatever is opened for writing ends the replacement before it, if it was one.
  Result<std::shared_ptr<const void>> hold(Access access, Timestamp) const override {
    if (access != Access::kRead) {
      const MutexLock lock(mutex_);
      rules_.rules().begin_write();
      has_remarked_ = false;
    }
    return std::shared_ptr<const void>();
  }
  Result<void> write_line(std::string_view line, const CallContext& call) override {
    const MutexLock lock(mutex_);
    Rules& rules = rules_.change(call.now);
    if (trimmed(line) != "apply") return rules.write(line);
    const auto allowed = rules.write_apply();
    if (allowed) rules_.apply(call.now);
    return allowed;
  }
  LineReviewer* reviewer() override { return this; }
  Result<void> truncate(const CallContext& call) override {
    const MutexLock lock(mutex_);
    rules_.change(call.now).begin_replacement();
    return {};
  }

 private:
  // Once a write, as the error log keeps few entries.
  std::optional<Error> remark(std::string_view line) const override {
    const MutexLock lock(mutex_);
    if (has_remarked_) return std::nullopt;
    const auto unlike = rules_.first_unlike(line);
    if (!unlike) return std::nullopt;
    has_remarked_ = true;
    return invalid("what is there stays as it is, as " + *unlike +
                       "; to apply all rules to it: echo apply >> rules",
                   0);
  }
  void note_refused_line() override {
    const MutexLock lock(mutex_);
    rules_.rules().give_up_replacement();
  }

  Mutex& mutex_;
  AppliedRules& rules_ GUARDED_BY(mutex_);
  mutable bool has_remarked_ GUARDED_BY(mutex_) = false;
};

}  // namespace

Rules::Reading AppliedRules::replace_file(const std::string& path, std::string_view text,
                                          Timestamp now) {
  auto reading = change(now).replace_file(text);
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

void AppliedRules::apply(const StatisticEntry& entry, Timestamp now, Interface::By by) {
  if (rules_.empty()) return;
  const std::string path = PathNaming::name(entry);
  rules_.each_match(path, [&](Rule& rule) {
    const std::string line = rule.line_for(entry.statistic->name());
    Interface& interface = *entry.owner->interface;
    const auto done = interface.define(line, now, by);
    // A remark on a line that took effect, as on a key that this type does not have.
    const std::optional<Error> fault = done ? interface.remark(line) : done.error();
    if (!fault || !errors_ || !rule.tell_failure()) return;
    const auto tell = done ? &ErrorLog::warn : &ErrorLog::report;
    (errors_->*tell)(ErrorLog::kDaemon, "rules, for " + path, line, *fault, now);
  });
}

std::vector<std::string> AppliedRules::lines_for(const std::string& path,
                                                 std::string_view statistic) {
  std::vector<std::string> lines;
  rules_.each_match(path, [&](const Rule& rule) { lines.push_back(rule.line_for(statistic)); });
  return lines;
}

std::optional<std::string> AppliedRules::first_unlike(std::string_view line) const {
  const auto rule = Rule::in(line);
  if (!rule) return std::nullopt;
  std::size_t looked_at = 0;
  for (const auto& [key, entry] : registry_.interfaces()) {
    if (entry->name == kOwnInterface) continue;
    for (const Statistic* const statistic : entry->interface->statistics()) {
      if (looked_at++ == kLookedAtMax) return std::nullopt;
      const std::string path = entry->name + "/" + statistic->name();
      if (!rule->matches(path, FirstBytes::of(path))) continue;
      if (would_change(*rule, *entry->interface, statistic->name())) return path;
    }
  }
  return std::nullopt;
}

void AppliedRules::apply(Timestamp now) {
  for (const auto& [key, interface] : registry_.interfaces()) {
    if (interface->name == kOwnInterface) continue;
    for (Statistic* const statistic : interface->interface->statistics()) {
      rules_.forget_failures();
      const StatisticEntry entry{.statistic = statistic, .owner = interface.get()};
      apply(entry, now, Interface::By::kUser);
    }
  }
}

Result<StatisticEntry*> AppliedRules::create_statistic(std::string_view path, std::string_view text,
                                                       uid_t creator, Timestamp now,
                                                       Strictness strictness) {
  const auto [interface, statistic, has_statistic] = wire::split_path(path);
  if (interface == kOwnInterface) return own_interface(0);
  if (const auto second = statistic.find('/'); second != std::string_view::npos) {
    return Error{ErrorCode::kInvalid, "a name has one '/': write %2F for others",
                 interface.size() + 1 + second};
  }
  if (!is_name(statistic)) {
    return Error{ErrorCode::kInvalid, "not a statistic's name (1 to 255 printable bytes, no '=')",
                 interface.size() + 1};
  }
  InterfaceEntry* entry = registry_.find_interface(interface);
  const bool is_new = !entry;
  if (!is_new) {
    if (auto allowed = rights_.may_change(*entry, creator); !allowed) return allowed.error();
  } else {
    auto made = registry_.create_interface(interface, creator, now);
    if (!made) return made.error();
    entry = made.value();
  }
  const auto made = entry->interface->create_statistic(statistic, text, now, strictness);
  if (made) {
    StatisticEntry& entered = registry_.enter(*entry, made.value());
    apply(entered, now, Interface::By::kRule);
    return &entered;
  }
  if (is_new) registry_.forget(*entry, now);
  return error_at(made.error(), path.size());
}

std::shared_ptr<File> make_rules_file(Mutex& mutex, AppliedRules& rules) {
  return std::make_shared<RulesFile>(mutex, rules);
}

}  // namespace tallyfs::statistics
