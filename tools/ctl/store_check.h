// What doctor says of the store of the past: whether a recorder writes it, and how far it reaches
// back. Any thread may call this.
#pragma once

#include <cstdint>
#include <string>

#include "tools/ctl/finding.h"

namespace tallyfs {

// Nothing where this user may not read the store. Where there is none: how one is named.
Findings check_store(const std::string& directory, std::uint64_t realtime_us, bool utc);

}  // namespace tallyfs
