// What the keeper says in the log while it keeps the mount: from fixed memory and by one system
// call, as it must go on when memory is short. The lines have the forms of the log's, and are cut
// behind kKeeperLineMax. Confined to the keeper's thread.
#pragma once

#include <cstddef>

#include "fs/daemon/log.h"

namespace tallyfs {

inline constexpr std::size_t kKeeperLineMax = 512;

// Before the others; takes what memory local time needs.
void set_keeper_log(LogPlace place);

// It gives up.
void log_end(const char* reason);
// Why the program on disk cannot go on.
void log_refused_program(const char* reason);
// The program on disk could not be executed: errno.
void log_no_program(int error);

}  // namespace tallyfs
