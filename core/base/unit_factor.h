// The factor by which the X of a statistic, by its units, becomes the base unit that exporters and
// buckets of percentiles count in. `microseconds/requests`: X times 1/1,000,000 is seconds. One
// word alone names Y, and X has no unit then; so it is with a word not known here.
//
// A pure function of a text; immutable values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/decimal.h"

namespace tallyfs {

// numerator / denominator, in lowest terms.
struct UnitFactor {
  std::uint64_t numerator = 1;
  std::uint64_t denominator = 1;

  bool operator==(const UnitFactor&) const = default;
};

struct Unit {
  std::string_view base{};  // "seconds"; empty: a pure number, or a unit that has no other base
  UnitFactor factor{};
};

// units: X/Y, as in a definition.
Unit unit_of_x(std::string_view units);
// The unit of Y, which is the word behind the slash, or the only one; none if it is that of X, too.
Unit unit_of_y(std::string_view units);

// The word known here for a time, a size or a share: itself, or that of its usual abbreviation.
// Empty: it is none, as "requests" or "slots".
std::string_view measure_of(std::string_view word);

// The factor for an X that is kept as an integer of so many decimal places, at most kDecimalsMax.
UnitFactor with_decimals(const UnitFactor& factor, unsigned decimals);

// The unit of the integers that are kept of X.
struct XScale {
  std::string_view units{};
  unsigned decimals = 0;
};
// Whether samples of the two scales may be added up, as far as the units say. One without a unit
// may be anything; thousandths are parts of a pure number, and no milliseconds.
bool have_one_scale(const XScale& scale, const XScale& other);

// Factors, with decimals or without, differ in at most so many ways, and each has its number below
// that.
inline constexpr std::size_t kUnitFactors = 20 * (kDecimalsMax + 1);
std::size_t number_of(const UnitFactor& factor);

}  // namespace tallyfs
