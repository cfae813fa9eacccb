// A file as far as the kernel has it cached. The look asks no file system: one may not answer, or
// be a mount of this daemon's own, which would wait for the caller.
// System-call wrapper, any thread.
#pragma once

#include <string>

#include "core/base/fd.h"

namespace tallyfs {

// flags: besides O_PATH. Invalid: errno says why, EAGAIN that the path is not cached.
Fd open_cached(const std::string& path, int flags = 0);

}  // namespace tallyfs
