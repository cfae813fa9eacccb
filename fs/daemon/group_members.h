// Whether the process that sent a datagram is a member of a group, as the kernel sees it.
#pragma once

#include <sys/types.h>

#include "core/branch/command.h"

namespace tallyfs {

// By /proc: false where the process has ended, is of another uid by now, or cannot be seen from
// here. Any thread.
bool is_member(const Sender& sender, gid_t group);

}  // namespace tallyfs
