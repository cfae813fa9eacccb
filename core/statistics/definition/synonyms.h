// Words of other tools for types and modes, which people type. A line with one is refused with the
// word that is meant. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace tallyfs::statistics {

// The refusal of a word that is not a type: with all types if it is no synonym.
std::string refusal_of_type(std::string_view word);
// nullptr: the word is none.
const char* refusal_of_mode_synonym(std::string_view word);

}  // namespace tallyfs::statistics
