// The word that was meant, of those there are the one with the fewest letters to change, and what a
// message about a wrong word says of them. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tallyfs {

// Returns nullopt if no word is near: a third of its letters, and at least one, may differ. Words
// beyond 255 bytes are near to none.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

// "; did you mean web/latency?" with the prefix "web/"; empty if none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known,
                         std::string_view prefix = {});
// "value, range, ... or raw"
std::string listed(const std::vector<std::string>& words);

}  // namespace tallyfs
