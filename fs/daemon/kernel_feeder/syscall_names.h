// Names of system calls by their numbers, as <asm/unistd.h> of the machine that this was built on
// has them. A pure function.
#pragma once

#include <cstdint>
#include <string>

namespace tallyfs {

// "sys_read"; empty: none that we know.
std::string syscall_name(std::uint64_t number);

}  // namespace tallyfs
