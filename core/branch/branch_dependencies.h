// The parts of the daemon that a branch uses. All of it outlives the branch, and each part may be
// missing.
#pragma once

#include <functional>
#include <span>

#include "core/branch/command.h"
#include "core/branch/daemon_facts.h"
#include "core/branch/process_watch.h"
#include "core/branch/switch_region.h"
#include "core/model/shape.h"
#include "core/tree/error_log.h"

namespace tallyfs {

struct BranchDependencies {
  SwitchRegion switches = {};         // without switches, feeders send everything
  std::span<Shape> shapes = {};       // without, feeders have no cells
  ProcessWatch* processes = nullptr;  // without it, nothing can have lifetime=feeder
  ErrorLog* errors = nullptr;         // without it, warnings are dropped
  // Whether the sender is of --write-group, by a system call. Nothing: there is no such group.
  std::function<bool(const Sender&)> is_writer = {};
  DaemonFacts daemon = {};
};

}  // namespace tallyfs
