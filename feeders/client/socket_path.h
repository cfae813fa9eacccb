// Where a feeder finds the daemon's socket.
#pragma once

#include <string>

namespace tally {

// `option` if it is not empty, else $TALLY_SOCKET, else /run/tallyfs/socket for root and
// $XDG_RUNTIME_DIR/tallyfs/socket for others. Empty if none of these says anything.
std::string find_socket_path(const std::string& option);

}  // namespace tally
