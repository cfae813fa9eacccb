// How many CPUs this machine could have. Confined to the daemon's start.
#pragma once

#include <optional>
#include <string_view>

namespace tallyfs {

// Reads a text as in /sys/devices/system/cpu/possible: the highest number in "0-3,8", plus one.
// Nothing: the text is no such list.
std::optional<unsigned> count_cpus(std::string_view possible);

// The number for this machine; 1 at least.
unsigned count_possible_cpus();

}  // namespace tallyfs
