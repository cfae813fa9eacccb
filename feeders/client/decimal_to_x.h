// Floating-point numbers as X of statistics with decimals=. Pure.
#pragma once

#include <cstdint>

#include "core/base/result.h"

namespace tallyfs {

// number * 10^decimals, rounded half to even. kInvalid: it is nan, infinite, or beyond 64 bits, or
// there are no decimals.
Result<std::int64_t> decimal_to_x(double number, unsigned decimals);

}  // namespace tallyfs
