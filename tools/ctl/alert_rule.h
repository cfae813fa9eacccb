// The rules of Prometheus that say what a condition of `tallyctl check` says, as a file of
// `rule_files:`. Families are named as metrics/ names them, with the prefix `tally_`.
// Pure functions.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "tools/ctl/condition.h"
#include "tools/display/statistic.h"

namespace tallyfs {

struct AlertSettings {
  std::chrono::microseconds over{0};     // 0: of all since the reset
  std::chrono::microseconds lasting{0};  // before it counts
  std::chrono::microseconds every{0};    // 0: as Prometheus is configured
};

// An alert that fires when `critical` does not hold and, before it, one for `warning`. They are of
// `what`, which is in the interface. kInvalid: metrics/ has no such number, with the reason.
Result<std::string> alert_rules(const Condition& critical, const std::optional<Condition>& warning,
                                const view::Interface& interface, const view::Statistic& what,
                                const AlertSettings& settings);

}  // namespace tallyfs
