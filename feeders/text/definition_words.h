// The words key=value with which a rule says how a new statistic is defined: those of
// tally-definition(5), and decimals=. They are strict: a word that nothing reads refuses the line.
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "tally/statistic.hpp"

namespace tallyfs {

struct DefinitionWords {
  std::optional<tally::Type> type{};
  // The units of X as it is stored: microseconds/..., where the text says seconds and 6 decimals.
  std::string units{};
  unsigned decimals = 0;  // X is the number * 10^decimals
  tally::Begin begin = tally::Begin::kOn;
};

// What the number is that the words are for, if its expression says so.
enum class NumberUnit { kUnknown, kSeconds, kBytes };

// A number of seconds is stored as units= says, in microseconds if that is seconds or missing;
// decimals= are those of its units. Units are seconds/samples or bytes/samples unless units= says
// which. Bounds of X (range_min=, range_max=, base_interval=) are decimals where the number
// has some, and become the stored integers. scale=log2 without range_min= begins at 0 where X is a
// time, bytes or bits. kInvalid with the token to blame.
Result<DefinitionWords> parse_definition_words(std::string_view text,
                                               NumberUnit unit = NumberUnit::kUnknown);

// `units` for an X that is stored with so many decimals: milliseconds with 3 are microseconds, and
// those of other units thousandths. kInvalid: no word of units says it.
Result<std::string> units_with_decimals(const std::string& units, unsigned decimals);

}  // namespace tallyfs
