// The number of the machine's present boot. Any thread.
#pragma once

#include <string_view>

#include "core/base/boot.h"

namespace tallyfs {

// Of a text as /proc/sys/kernel/random/boot_id has it; zeros for any other.
BootId parse_boot_id(std::string_view text);

// Zeros if it cannot be read.
BootId read_boot_id();

}  // namespace tallyfs
