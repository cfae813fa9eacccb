// The text that is edited on the last line of `top`: letters, Backspace, Left, Right, Home, End.
// At most kLettersMax letters. Confined to one thread.
#pragma once

#include <string>

#include "tools/ctl/curses_screen.h"
#include "tools/display/quantity.h"

namespace tallyfs {

class LineEditor {
 public:
  static constexpr std::size_t kLettersMax = 4096;

  // The cursor stands behind the text, which is UTF-8.
  LineEditor(std::string prompt, std::string_view text, view::Charset charset);

  void take(const Input& input);
  std::string text() const;
  // The prompt and the part of the text around the cursor, which is a block, in `width` columns.
  std::string shown(int width) const;

 private:
  std::string prompt_;
  view::Charset charset_;
  std::u32string letters_;
  std::size_t cursor_ = 0;
};

// A line with a caret below the first word of `after` that is not in `before`, with a newline
// before it; empty: there is no such word.
std::string caret_below_change(std::string_view before, std::string_view after,
                               view::Charset charset);

}  // namespace tallyfs
