// The sample rates of stats/tcp: the list behind the callback that libtally hands changes to. There
// is one in a process, since a callback of stats(3) has nothing that would tell several apart.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.h"

namespace tallyfs::tcp_rates {

// Sets the rates that hold until a user writes sample_rates, in the text form of that file, and
// follows the file. kInvalid with the fault.
Result<void> follow(const char* subsystem, std::string_view text);

// Counts up with each change.
std::uint64_t changes();
// The template that is chosen for a seed; negative: none.
int roll(std::string_view seed);

}  // namespace tallyfs::tcp_rates
