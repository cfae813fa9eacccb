// Memory that is shared with feeders by descriptor.
#pragma once

#include "core/base/fd.h"
#include "core/base/result.h"

namespace tallyfs {

// A memfd that can be sealed and, where the kernel knows that, never be executed.
Fd open_memory(const char* name);

// Another descriptor of it, for reading only. Not valid: errno says why.
Fd reopen_to_read(const Fd& memory);

// "WHAT: " and what errno says.
Error memory_error(ErrorCode code, const char* what);

}  // namespace tallyfs
