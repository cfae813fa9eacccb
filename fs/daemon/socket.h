// The daemon's socket, from the command line or from systemd. Confined to the daemon's start.
#pragma once

#include <optional>
#include <vector>

#include "core/base/result.h"
#include "feeders/intake/feed_socket.h"
#include "fs/daemon/descriptor_store.h"
#include "fs/daemon/options.h"

namespace tallyfs {

// What systemd has passed. The descriptors are passed to one process, by its pid, so this is called
// before a fork. kInvalid: more than one of a kind.
struct PassedSockets {
  std::optional<int> feed;
  std::optional<int> sock_diag;  // a netlink socket (ListenNetlink=)
  std::vector<StoredDescriptor> stored;
};
Result<PassedSockets> find_passed_sockets();

// The socket that systemd passed, or else one of our own. Errors are those of FeedSocket, and
// kInvalid: there is no path.
Result<FeedSocket> open_socket(const DaemonOptions& options, const PassedSockets& passed);

// Warns in the log if the socket's queue is shorter than the options ask for. A socket from systemd
// has the setting of the time when it was made, which is most probably the present one.
void report_queue(const FeedSocket& socket, const DaemonOptions& options);

}  // namespace tallyfs
