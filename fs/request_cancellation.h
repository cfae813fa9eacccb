// The cancellation of a request: its caller is signalled to end, by Ctrl-C, by kill, or as its
// terminal is gone.
// Any thread.
//
// FUSE interrupts a request for any signal that its thread has yet to take, and returns EINTR as it
// is, SA_RESTART or not. A shell may have a child that ends while the shell writes to a control
// file. Its write would fail then, unlike a write to the kernel's own files. So only signals that
// end a process count.
#pragma once

#include <sys/types.h>

#include "core/base/call_context.h"
#include "fs/protocol.h"

namespace tallyfs {

// Whether one of SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGKILL is pending for the thread, and not
// blocked. False, too, if the thread cannot be seen, as in another PID namespace. Reads /proc, so
// it is for calls that wait anyhow.
bool is_told_to_end(pid_t thread);

// The token is cancelled once the request's thread is signalled to end. Valid until the reply.
CancellationToken cancellation_of(fuse_req_t request);

}  // namespace tallyfs
