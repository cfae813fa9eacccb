// Draws `top` on a grid: list, picture of what is selected, a line below. Pure functions.
#pragma once

#include <algorithm>
#include <string>

#include "tools/ctl/top_model.h"
#include "tools/display/grid.h"
#include "tools/display/heat_colour.h"
#include "tools/display/look.h"

namespace tallyfs {

// The state of the screen that is not in the model.
struct TopScreen {
  enum class Picture { kHeat, kBars };
  enum class Page { kList, kZoom, kHelp };

  int height = 24;
  std::string where;    // the mount or the recording
  std::string every;    // "1s"
  std::string fault;    // shown in the header
  std::string message;  // the last line: a question, an answer; empty: the keys
  std::string position{};  // the line above it, of a store, or of what rows are compared with
  std::uint64_t dropped = 0;
  bool is_paused = false;
  Picture picture = Picture::kHeat;
  Page page = Page::kList;
  std::size_t first_row = 0;  // of the list; draw_top() keeps the selection in view
};

inline constexpr int kTopWidthMin = 60;
inline constexpr int kTopHeightMin = 12;
inline constexpr int kTopListRow = 2;  // the first row of the list

// How many rows of the list a screen of this height has.
inline std::size_t list_rows_of(int height) {
  return static_cast<std::size_t>(std::max(1, height - kTopListRow - 2));
}

void draw_top(view::Grid& grid, const TopModel& model, TopScreen& screen, view::Colours colours,
              const view::Look& look);

}  // namespace tallyfs
