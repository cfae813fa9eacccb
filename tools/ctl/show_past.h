// tallyctl show --at, --last, --vs: what was counted in a span of the past, from a store, and
// beside it what was counted in another.
#pragma once

#include <string>

#include "tools/ctl/past_span.h"
#include "tools/ctl/session.h"

namespace tallyfs {

// The session need not be open. by: the label of --by, or empty. Returns an exit status.
int show_past(Session& session, const PastOptions& options, std::string by = "");

}  // namespace tallyfs
