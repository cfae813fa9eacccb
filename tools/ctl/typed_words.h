// Words of a definition as people type them on the command line. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tallyfs {

// KEY=VALUE as a definition has it: the text of help= becomes one token, with escapes as in URLs. A
// text that has escapes already, as a definition prints it, stays.
std::string stored_word(std::string_view word);

// A word that a shell reads as it is; quoted where that is needed.
std::string shell_word(std::string_view word);

// The line that makes a statistic, of the words with which its definition was to be changed:
// "tallyctl create web/us type=range on=1". An empty statistic is named STATISTIC.
std::string create_line(const std::string& interface, const std::string& statistic,
                        const std::vector<std::string>& keys);

}  // namespace tallyfs
