// The properties of stdout: its width, its characters, its colours. Read once, at the start of a
// command.
#pragma once

#include "tools/ctl/options.h"
#include "tools/display/grid.h"
#include "tools/display/heat_colour.h"
#include "tools/display/look.h"

namespace tallyfs {

struct Terminal {
  int width = 100;
  bool is_terminal = false;
  bool is_dumb = false;  // a terminal with TERM=dumb
  view::Charset charset = view::Charset::kAscii;
  view::Colours colours = view::Colours::kNone;
  view::Theme theme = view::Theme::kDark;
};

// --color before NO_COLOR before CLICOLOR_FORCE before CLICOLOR=0 before isatty; TERM=dumb has no
// colours. UTF-8 by the locale. $COLUMNS, where it is set, is the width of a pipe.
Terminal find_terminal(const Options& options);
view::Look look_of(const Options& options, const Terminal& terminal);

// "2026-11-22 03:13:42", of a CLOCK_REALTIME in microseconds.
std::string dated(std::uint64_t realtime_us, bool utc);

// On stdout, flushed.
void print(const std::string& text);
void print(const view::Grid& grid, const Terminal& terminal);

}  // namespace tallyfs
