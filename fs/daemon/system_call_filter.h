// The system calls that a keeper's server does without: mounts, programs, other identities, other
// processes' memory, sockets but Unix's and netlink's. Code that an attacker brings into the server
// cannot use them either. A service has an allow-list beside this
// (packaging/systemd/tallyfs.service), which has to contain what the keeper needs.
#pragma once

#include "core/base/result.h"

namespace tallyfs {

// Permanent, for this thread and those that it starts: these calls fail with EPERM from now on.
// Called before there are other threads. kNoDevice: this kernel, or what emulates one, has no
// filters.
Result<void> forbid_unneeded_calls();

}  // namespace tallyfs
