// tallyfs --reload: asks the keeper of a mount to go on with the program on disk, and waits until
// that serves. Confined to main(), in a process that does nothing else.
#pragma once

#include <chrono>
#include <string>

#include "core/base/result.h"

namespace tallyfs {

// How long keeper and servers may take.
inline constexpr std::chrono::seconds kReloadMax{30};
// The place in tracing/error_log of the reason why a reload was refused.
inline constexpr const char* kReloadEntry = "reload";

enum class Reloaded {
  kWhole,
  kWithoutRules,  // the new server refuses lines of the file of --rules, which stderr has
};
// The status of --reload in that case.
inline constexpr int kRulesRefusedStatus = 4;

// The keeper's arguments are tried with this program before, which says on stderr what is wrong.
// The mount is looked at in a child, so that a server that does not answer is told in time.
// With a reason for a person: no tallyfs is mounted there, or a dead one, or it has no keeper; no
// rights; a program refuses; the server was not replaced in time, or crashed meanwhile.
Result<Reloaded> reload(const std::string& mount_point);

}  // namespace tallyfs
