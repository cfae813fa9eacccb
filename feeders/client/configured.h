// What statistic_configure() said, for calls that are not about statistics.
#pragma once

#include "feeders/client/socket_path.h"

namespace tallyfs {

// The process's socket; it cannot be configured any more from then on.
SocketPath configured_socket_path();

}  // namespace tallyfs
