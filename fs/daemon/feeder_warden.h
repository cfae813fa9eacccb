// Starts the feeder of the kernel's events, and starts it again when it has ended. A process of its
// own, forked before the first thread and before privileges are dropped, since the feeder needs
// what the daemon gives up. It ends with the daemon, which it knows by the end of their socket, and
// so does the feeder: one that has not ended kFeederEndMax after that, since it is stopped or
// hangs, is killed. Of their tracing instances none is left.
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
Result<Fd> employ_feeder_warden(const FeedSocket& socket, FeederLog log);

}  // namespace tallyfs
