// Words of other tools for types and modes, which people type. A line with one is refused with the
// word that is meant. Pure functions.
#pragma once

#include <string_view>

namespace tallyfs {

// nullptr: the word is none.
const char* refusal_of_type_synonym(std::string_view word);
const char* refusal_of_mode_synonym(std::string_view word);

}  // namespace tallyfs
