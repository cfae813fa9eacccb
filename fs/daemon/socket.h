// The daemon's socket as the command line or systemd has it. Confined to the daemon's start.
#pragma once

#include "core/base/result.h"
#include "feeders/intake/feed_socket.h"
#include "fs/daemon/options.h"

namespace tallyfs {

// How many sockets systemd has passed, 0 or 1. Descriptors are handed to one process, named by its
// pid, so that this comes before a fork. kInvalid: more than one.
Result<int> count_passed_sockets();

// The socket that systemd passed, or else one of our own. Errors are FeedSocket's, and kInvalid:
// there is no path.
Result<FeedSocket> open_socket(const DaemonOptions& options, int passed_sockets);

// Warns in the log if the socket's queue is shorter than the options ask for. A socket passed by
// systemd has what the setting was when it was made, which is most probably what it is now.
void report_queue(const FeedSocket& socket, const DaemonOptions& options);

}  // namespace tallyfs
