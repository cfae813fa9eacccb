// 128-bit integers, which both compilers have and no standard names: sums of X*Y, and bounds that
// may lie one step beyond 64 bits.
#pragma once

namespace tallyfs {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

}  // namespace tallyfs
