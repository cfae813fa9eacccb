// The supervisor of the kernel's feeder, tally-feed-tracefs: it starts the feeder, and starts it
// again when it has ended. A process of its own, forked before the first thread and before
// privileges are dropped, since the feeder needs the privileges that the daemon gives up. The end
// of its socket tells it of the daemon's end. Supervisor and feeder end then; a feeder that is
// stopped or hangs is killed kFeederEndMax later. None of their tracing instances is left.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>

#include "core/base/fd.h"
#include "core/base/result.h"
#include "feeders/intake/feed_socket.h"

namespace tallyfs {

inline constexpr std::chrono::seconds kFeederEndMax{3};

// Where the feeder's log goes: to the daemon's stderr, or, of a daemon in the background, nowhere.
enum class FeederLog { kStderr, kNowhere };

// Forks; returns in the daemon, with its end of the socket over which it orders
// (core/wire/order.h). kInvalid: no socket with a path, no process.
Result<Fd> start_feeder_supervisor(const FeedSocket& socket, FeederLog log);

}  // namespace tallyfs
