// Text steps that all commands share, whatever file they are written into. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace tallyfs {

// Joins continued lines: a backslash before the end of a line continues it, as in the kernel
// documentation's examples. The blanks at the start of the next line are dropped.
inline std::string joined_lines(std::string_view text) {
  std::string joined;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size() || text[i + 1] != '\n') {
      joined.push_back(text[i]);
      continue;
    }
    ++i;
    while (i + 1 < text.size() && (text[i + 1] == ' ' || text[i + 1] == '\t')) ++i;
  }
  return joined;
}

}  // namespace tallyfs
