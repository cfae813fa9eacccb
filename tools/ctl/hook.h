// A command of the user that is run when something happens.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace tallyfs {

using Environment = std::vector<std::pair<std::string, std::string>>;

// Runs `/bin/sh -c COMMAND` in a process group of its own, with more in its environment and
// /dev/null as standard input, and waits for its end. After `longest` the group is killed.
// kInvalid: it could not be started, ended with another status than 0, or was killed.
Result<void> run_hook(const std::string& command, const Environment& environment,
                      std::chrono::milliseconds longest = std::chrono::seconds(60));

}  // namespace tallyfs
