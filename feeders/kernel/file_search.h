// The search of a program file for a place by name, in a process that ends with it. Any user may
// have made the file: once it is open, the process gives up all rights (program/untrusted).
//
// What it writes, as one text: a line `debug BUILD_ID NAME` if symbols of another file might help
// (`-` for no name), then the reply to the order (core/wire/probe_order.h).
// System-call wrappers: errno ends here.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/wire/probe_order.h"
#include "program/untrusted/renounced_rights.h"

namespace tallyfs {

inline constexpr RenouncedBounds kSearchBounds{.memory_bytes = std::size_t{256} << 20,
                                               .cpu_time = std::chrono::seconds(2)};

struct FileSearch {
  wire::FindOrder order;
  // Files that may have the symbols. The first counts that can be read and is of the same build.
  std::vector<std::string> debug_files = {};
};

// Called in the child process. out: the write end of a pipe.
[[noreturn]] void search_and_end(const FileSearch& search, Fd out);

}  // namespace tallyfs
