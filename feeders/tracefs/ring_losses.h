// How many records a CPU's ring has lost since it was made, from the text of per_cpu/cpuN/stats.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tallyfs {

// `overrun`, records that gave way to newer ones, and `dropped events`. Nothing: the text is none
// of that file.
std::optional<std::uint64_t> parse_ring_losses(std::string_view stats);

}  // namespace tallyfs
