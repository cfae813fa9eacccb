// tallyctl show --changed: which statistics behave most unlike before, from a store, a recording,
// or a mount that is read for three spans. (tools/display/behaviour.h has the rule.)
#pragma once

#include "tools/ctl/session.h"

namespace tallyfs {

// The first of the session's words may be a span, as "5m"; the others say which statistics.
// Returns an exit status.
int show_changed(Session& session);
// Shows the changes of a span of a store. The session need not be open.
int show_changed(Session& session, const PastOptions& past);

}  // namespace tallyfs
