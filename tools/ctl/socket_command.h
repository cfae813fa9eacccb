// Lines for the daemon's socket, by tally-send, which prints what was refused and why.
#pragma once

#include <string>

#include "core/base/result.h"
#include "tools/ctl/session.h"

namespace tallyfs {

// Of the daemon of the session's mount.
Result<std::string> socket_of(Session& session);
// Returns tally-send's exit status (tally-send(1)).
int send_command(const std::string& socket, std::string line);

}  // namespace tallyfs
