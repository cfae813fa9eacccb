// Cells of a screen: text, tone and level of each. All commands draw on one, `top` included, and
// unit tests compare its text. Rows are added as they are written to; columns beyond the width are
// cut off.
//
// Widths are those of wcwidth(3), in the locale of the process. What the locale cannot print stands
// there as \xNN. Confined to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/display/quantity.h"

namespace tallyfs::view {

enum class Tone : std::uint8_t {
  kPlain,
  kBold,
  kDim,
  kBar,
  kGood,
  kWarning,
  kBad,
  kHeat,
  kSelected
};

struct Style {
  Tone tone = Tone::kPlain;
  std::uint8_t level = 0;  // of kHeat: 1 to what the colours have

  bool operator==(const Style&) const = default;
};

struct Cell {
  std::string text{" "};  // empty: the right half of a wide character
  Style style;
};

class Grid {
 public:
  explicit Grid(int width, Charset charset = Charset::kUtf8) : width_(width), charset_(charset) {}

  int width() const { return width_; }
  int height() const { return static_cast<int>(rows_.size()); }
  Charset charset() const { return charset_; }
  // The cells of an existing row, which may have fewer than the width.
  const std::vector<Cell>& row(int row) const { return rows_[static_cast<std::size_t>(row)]; }

  // Writes text from a column on, and adds the row if there is none. Returns the column after the
  // text.
  int put(int row, int column, std::string_view text, Style style = {});
  // The next row.
  int put_line(std::string_view text, Style style = {}) { return put(height(), 0, text, style); }

  // Lines without blanks at their ends, each with its newline.
  std::string text() const;

 private:
  std::vector<Cell>& at(int row);

  const int width_;
  const Charset charset_;
  std::vector<std::vector<Cell>> rows_;
};

// Columns of a text on a grid of this charset.
int width_of(std::string_view text, Charset charset);
// Lines of at most `width` columns, divided between words; a longer word has a line of its own.
std::vector<std::string> wrapped(std::string_view text, int width, Charset charset);
// At most `width` columns; what is too long loses its middle.
std::string cut_middle(std::string_view text, int width, Charset charset);

}  // namespace tallyfs::view
