// The words key=value with which a rule says how a new statistic is defined: those of
// tally-definition(5). They are strict: a word that nothing reads refuses the line. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "tally/statistic.hpp"

namespace tallyfs {

struct DefinitionWords {
  std::optional<tally::Type> type{};
  std::string units{};
  unsigned decimals = 0;
  // The integer that is kept of X is the number * 10^number_scale: it differs from the decimals
  // where the number is in seconds, and the units are parts of them.
  unsigned number_scale = 0;
  tally::Begin begin = tally::Begin::kOn;
};

// The unit of the number that the words define, if its expression has one.
enum class NumberUnit { kUnknown, kSeconds, kBytes };

// A number of seconds becomes what units= says: without it seconds with 6 decimals, which units of
// seconds have, too, unless decimals= says otherwise. Without units= they are seconds/samples or
// bytes/samples. Bounds of X (range_min=, range_max=, base_interval=) are decimals where X has
// some, and become the integers that are kept. scale=log2 without range_min= begins at 0 where X is
// a time, bytes or bits. kInvalid with the token to blame.
Result<DefinitionWords> parse_definition_words(std::string_view text,
                                               NumberUnit unit = NumberUnit::kUnknown);

}  // namespace tallyfs
