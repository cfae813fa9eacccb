// How many CPUs this machine could have. Confined to the daemon's start.
#pragma once

#include <optional>
#include <string_view>

namespace tallyfs {

// Of a text as /sys/devices/system/cpu/possible has it: the highest number in "0-3,8", and one.
// Nothing for a text that is none.
std::optional<unsigned> count_cpus(std::string_view possible);

// Of this machine; 1 at least.
unsigned count_possible_cpus();

}  // namespace tallyfs
