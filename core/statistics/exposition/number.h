// Numbers of metrics: exact decimals of integers that are taken to their base unit, the doubles
// next to them, and doubles as Go prints them.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "core/base/int128.h"
#include "core/base/unit_factor.h"

namespace tallyfs::statistics {

// A factor as metrics print it: multiplier / 10^decimals. Every factor of a unit is one.
struct UnitScale {
  std::uint64_t multiplier = 1;
  unsigned decimals = 0;
  unsigned places = 0;  // so many decimals at least are printed, zeros too; at most `decimals`

  bool operator==(const UnitScale&) const = default;
};
UnitScale scale_of(const UnitFactor& factor);

struct Quantity {
  Int128 value = 0;
  UnitScale scale{};
};

// `0.00175`, without zeros at the end but for those of the scale's places; exact for each value.
void append_decimal(std::string& out, const Quantity& quantity);
// The double nearest to it.
double to_double(const Quantity& quantity);
// The shortest digits that read back, in Go's form: `1.0`, `100000.0`, `1e+06`, `+Inf`.
void append_go_double(std::string& out, double value);

}  // namespace tallyfs::statistics
