// The checks of doctor on the store of the past: whether a recorder writes it, how far it reaches
// back, what changed most, and which reader prevents its tidying. Any thread may call these.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/ctl/finding.h"
#include "tools/display/look.h"
#include "tools/past/store_log.h"

namespace tallyfs {

// Without a store the finding says how to name one. There is no finding if this user may not read
// it.
Findings check_store(const std::string& directory, std::uint64_t realtime_us, bool utc);
// Finds what changed most in the newest minute of a store that is being written. Never a fault.
Findings check_changed(const std::string& directory, std::uint64_t realtime_us,
                       const view::Look& look);
// The reader that makes the log grow, if one of those that held it a second before still does;
// nullopt while the log is small.
Findings check_store_log(const std::string& directory,
                         const std::vector<past::LogHolder>& held_before);

}  // namespace tallyfs
