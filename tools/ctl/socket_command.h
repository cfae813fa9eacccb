// Lines for the daemon's socket, by tally-send. What it says of a refusal is printed as tallyctl's.
#pragma once

#include <string>

#include "core/base/result.h"
#include "tools/ctl/session.h"

namespace tallyfs {

// The socket of the daemon of the session's mount.
Result<std::string> socket_of(Session& session);
// Returns tally-send's exit status (tally-send(1)).
int send_command(const std::string& socket, std::string line);

}  // namespace tallyfs
