// The rules of the file `rules`, and how they are applied to statistics: to each that comes into
// being, and by `apply` to all that are there.
//
// Confined to the lock of the StatisticsBranch.
#pragma once

#include <optional>

#include "core/base/mutex.h"
#include "core/statistics/branch/registry.h"
#include "core/statistics/branch/rules.h"
#include "core/tree/error_log.h"
#include "core/tree/file.h"

namespace tallyfs::statistics {

class AppliedRules {
 public:
  // Both outlive it. errors: nullptr if failures are not reported.
  AppliedRules(Registry& registry, InterfaceRights rights, ErrorLog* errors, Timestamp now)
      : registry_(registry), rights_(rights), errors_(errors), changed_(now) {}

  // When the rules last changed.
  Timestamp changed() const { return changed_; }
  const Rules& rules() const { return rules_; }
  // For a change at `now`.
  Rules& change(Timestamp now) {
    changed_ = now;
    return rules_;
  }
  // For what changes none.
  Rules& rules() { return rules_; }
  // Rules of the file of --rules at `path`, instead of those that came from it before. They are for
  // statistics to come. The error log has the first faults, with the path.
  Rules::Reading replace_file(const std::string& path, std::string_view text, Timestamp now);

  // Creates a statistic, and its interface if that is missing, and applies the rules that match.
  // token_at of an error is an offset into `path` or into the text behind it.
  Result<StatisticEntry*> create_statistic(std::string_view path, std::string_view text,
                                           uid_t creator, Timestamp now,
                                           Strictness strictness = Strictness::kTolerant);
  // Applies all rules to all statistics once, and reports each failure. The daemon's own numbers
  // stay as they are.
  void apply(Timestamp now);
  // Lines of the rules that match, in their order.
  std::vector<std::string> lines_for(const std::string& path, std::string_view statistic);
  // The first statistic that is there and that the rule in a line would change; nullopt: none.
  std::optional<std::string> first_unlike(std::string_view line) const;

 private:
  void apply(const StatisticEntry& entry, Timestamp now, Interface::By by);

  Registry& registry_;
  const InterfaceRights rights_;
  ErrorLog* const errors_;
  Rules rules_;
  Timestamp changed_;
};

// The file `rules`. It takes the lock, which is the branch's; both outlive it.
std::shared_ptr<File> make_rules_file(Mutex& mutex, AppliedRules& rules);

}  // namespace tallyfs::statistics
