// Who asked wants to end: Ctrl-C, kill, a terminal that is gone.
//
// FUSE interrupts a request for any signal that its thread has yet to take, and hands EINTR on as
// it is, SA_RESTART or not. A shell whose child ends while it writes to a control file would see
// its write fail then, as no write to a file of the kernel's does; so only signals by which
// somebody ends a process count.
#pragma once

#include <sys/types.h>

#include "core/base/patience.h"
#include "fs/protocol.h"

namespace tallyfs {

// Whether one of SIGHUP, SIGINT, SIGQUIT, SIGTERM and SIGKILL waits to be taken by the thread,
// which does not block it. False, too, if nothing is to be learnt of it, as of one in another PID
// namespace. Reads /proc: for who waits anyhow.
bool is_told_to_end(pid_t thread);

// Of who asked, until that thread is told to end.
Patience patience_of(fuse_req_t request);

}  // namespace tallyfs
