// Text steps that all commands share, whatever file they are written into. Pure functions.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/text.h"

namespace tallyfs::tracing {

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

// Takes the next of several lines of commands; what it returns ends before a '#', which begins a
// comment.
inline std::string_view next_command(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(line.substr(0, line.find('#')));
}

}  // namespace tallyfs::tracing
