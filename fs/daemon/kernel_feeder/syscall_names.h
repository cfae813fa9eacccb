// Names of system calls by their numbers, from <asm/unistd.h> of the machine of the build. A pure
// function.
#pragma once

#include <cstdint>
#include <string>

namespace tallyfs {

// "sys_read"; empty: the number is not known.
std::string syscall_name(std::uint64_t number);

}  // namespace tallyfs
