// When a request is cancelled: its caller is told to end, by Ctrl-C, by kill, or as its terminal is
// gone.
//
// FUSE interrupts a request for any signal that its thread has yet to take, and hands EINTR on as
// it is, SA_RESTART or not. A shell whose child ends while it writes to a control file would see
// its write fail then, as no write to a file of the kernel's does. So only signals that end a
// process count.
#pragma once

#include <sys/types.h>

#include "core/base/call_context.h"
#include "fs/protocol.h"

namespace tallyfs {

// Whether one of SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGKILL is pending for the thread, and not
// blocked. False, too, if the thread cannot be seen, as in another PID namespace. Reads /proc, so
// it is for calls that wait anyhow.
bool is_told_to_end(pid_t thread);

// Is cancelled once the request's thread is told to end. To be used until the reply.
CancellationToken cancellation_of(fuse_req_t request);

}  // namespace tallyfs
