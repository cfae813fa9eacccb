// A grid as bytes for a terminal: its text with SGR sequences (ECMA-48), as far as there are
// colours. Without colours, its text alone. Pure functions.
#pragma once

#include <string>

#include "tools/display/grid.h"
#include "tools/display/heat_colour.h"

namespace tallyfs::view {

// Lines without blanks at their ends; each ends with the plain style.
std::string terminal_text(const Grid& grid, Colours colours, Theme theme);

}  // namespace tallyfs::view
