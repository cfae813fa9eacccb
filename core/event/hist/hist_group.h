// The groups that numbers of a key fall into: `.log2` (the kernel's), `.log2=K` (ours, 2^K to an
// octave) and `.buckets=N`. Those of negative numbers, of fields that are signed, mirror the
// others: 5 to 8 are `~ 2^3`, -8 to -5 are `~ -2^3`; only `.buckets=N` goes on evenly below 0, with
// -N to -1.
//
// Pure. A group is kept as one number, in whose order groups are sorted: of `.log2` the exponent e,
// or -1-e; of the others the number of the group that is closest to 0.
#pragma once

#include <cstdint>
#include <string>

#include "core/event/hist/expression.h"

namespace tallyfs {

// What the value of a key counts as; itself without any of these modifiers.
std::uint64_t group_of(const Expression& key, std::uint64_t value);
// The same where it is shown: "~ 2^3 ", "~ 96-111", "~ -10--1". The key must have such a modifier.
void append_group(std::string& out, const Expression& key, std::uint64_t group);

}  // namespace tallyfs
