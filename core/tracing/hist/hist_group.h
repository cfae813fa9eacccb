// The groups of numbers in a key: `.log2` (the kernel's), `.log2=K` (ours, 2^K to an octave) and
// `.buckets=N`. The groups of negative numbers, in signed fields, mirror the others: 5 to 8 are `~
// 2^3`, -8 to -5 are `~ -2^3`. Only `.buckets=N` goes on evenly below 0, with -N to -1.
//
// Pure. A group is stored as one number, and groups are sorted by that number. For `.log2` it is
// the exponent e, or -1-e. For the others it is the end of the group that is closest to 0.
#pragma once

#include <cstdint>
#include <string>

#include "core/tracing/hist/expression.h"

namespace tallyfs::tracing {

// The number under which the value of a key is counted; the value itself without such a modifier.
std::uint64_t group_of(const Expression& key, std::uint64_t value);
// Appends the group as it is shown: "~ 2^3 ", "~ 96-111", "~ -10--1". The key must have such a
// modifier.
void append_group(std::string& out, const Expression& key, std::uint64_t group);

}  // namespace tallyfs::tracing
