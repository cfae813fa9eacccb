// The kernel's filter that leaves out records of some threads, by the rule of
// core/tracing/branch/excluded_threads.h. The daemon leaves out what passes nevertheless. Pure.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/tracing/format/task_fields.h"

namespace tallyfs {

// threads: in any order. Empty: nothing is left out.
std::string filter_without(const tracing::TaskFields& fields, std::vector<pid_t> threads);
// Both, of which either may be empty.
std::string both_filters(std::string_view one, std::string_view other);

}  // namespace tallyfs
