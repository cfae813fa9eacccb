// A line of values on dots: two by four of them in a cell, as braille characters; with ASCII alone
// a cell is one dot. Cells that only the span from min to max touches are shaded.
// Confined to one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tools/display/grid.h"
#include "tools/display/look.h"
#include "tools/display/plot.h"

namespace tallyfs::view {

class Dots {
 public:
  Dots(int columns, int rows, double low, double high);

  // Point `i` of `count`, in their order. Where there are more points than dots, they share them;
  // fewer take two columns at the most, so that the line starts at the left.
  void add(const Point& point, std::size_t i, std::size_t count);
  int columns_used(std::size_t count) const;
  int column_of(std::size_t i, std::size_t count) const { return dot_x(i, count) / kAcross; }
  void draw(Grid& grid, int grid_row, int column, int row, Charset charset) const;

 private:
  static constexpr int kAcross = 2;  // dots in a cell

  struct CellDots {
    std::uint8_t line = 0;  // as in U+2800
    bool is_shaded = false;
  };

  int dot_x(std::size_t i, std::size_t count) const;
  int dot_y(double value) const;
  CellDots& cell(int x, int y);
  void line_to(int x, int y);
  void shade(int from_x, int to_x, double min, double max);

  const int columns_;
  const int rows_;
  const double low_;
  const double high_;
  std::vector<CellDots> cells_;
  std::optional<std::pair<int, int>> last_;  // the line's end
};

}  // namespace tallyfs::view
