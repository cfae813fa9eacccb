// Words of a definition line that nothing reads although they are right: a tolerant line has a
// warning, a strict one is refused. Pure functions.
#pragma once

#include <optional>
#include <string_view>

#include "core/base/result.h"
#include "core/statistics/definition/change.h"

namespace tallyfs::statistics {

// The first key in a line of the definition file that is ignored although it is not read-only; for
// the caret of a warning. No definition has the key, which is most likely misspelt, or none of the
// line's statistics does, which have these attributes after the line has taken effect.
std::optional<Error> find_ignored_key(std::string_view line, Attributes attributes);
// Checks a strict line. kInvalid, with the types that the key is for.
Result<void> check_all_read(std::string_view line, Attributes attributes);
// Quantiles that are all below 1, and most likely meant as fractions.
std::optional<Error> find_fractions(const Change& change);
}  // namespace tallyfs::statistics
