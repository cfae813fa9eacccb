// The supervisor of the kernel's feeder, tally-feed-tracefs: it starts the feeder, and starts it
// again after it has ended. It is a process of its own, forked before the first thread and before
// privileges are dropped: the feeder needs the privileges that the daemon gives up. It opens
// tracefs at its start, for all feeders: later, a mount of ours may lie over the kernel's. It
// learns of the daemon's end by the end of its socket. Then supervisor and feeder end; a feeder
// that is stopped or hangs is killed kFeederEndMax later. None of their tracing instances is left,
// and no probe: the supervisor has the lock of their group, and removes it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "feeders/intake/feed_socket.h"

namespace tallyfs {

inline constexpr std::chrono::seconds kFeederEndMax{3};

// Where the feeder's log goes: to the daemon's stderr, or, of a daemon in the background, nowhere.
enum class FeederLog { kStderr, kNowhere };

// Forks; returns in the daemon, with the daemon's end of the socket for orders (core/wire/order.h).
// drop_rights is called in the supervisor, which ends if it fails.
// kInvalid: the feed socket has no path, or the process cannot be made.
Result<Fd> start_feeder_supervisor(const FeedSocket& socket, FeederLog log,
                                   const std::function<Result<void>()>& drop_rights);

}  // namespace tallyfs
