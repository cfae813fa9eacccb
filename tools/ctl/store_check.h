// What doctor says of the store of the past: whether a recorder writes it, and how far it reaches
// back. Any thread may call this.
#pragma once

#include <cstdint>
#include <string>

#include "tools/ctl/finding.h"

namespace tallyfs {

// Nothing where there is no store, or none that this user may read.
Findings check_store(const std::string& directory, std::uint64_t realtime_us, bool utc);

}  // namespace tallyfs
