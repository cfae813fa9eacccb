// The word that was meant: of those there are, the one with the fewest letters to change.
// Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tallyfs {

// Nothing if none is near: a third of its letters, and at least one, may differ. Words beyond 255
// bytes are near to none.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace tallyfs
