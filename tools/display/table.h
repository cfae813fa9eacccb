// A table on a grid: columns as wide as their widest cell, two blanks between them, and, if asked
// for, a bar at the right end of each row. Confined to one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/display/grid.h"
#include "tools/display/look.h"

namespace tallyfs::view {

enum class Align : std::uint8_t { kLeft, kRight };

class Table {
 public:
  static constexpr int kBarMax = 35;

  explicit Table(const Look& look) : look_(look) {}

  // Call before add_row(). Columns that are aligned to the left are shortened if the table is too
  // wide.
  void add_column(std::string heading, Align align = Align::kRight);
  // cells: one for each column. bar: its length, from 0 to 1.
  void add_row(std::vector<std::string> cells, std::optional<double> bar = std::nullopt,
               Tone tone = Tone::kPlain);
  bool empty() const { return rows_.empty(); }

  // Draws the table from the next row of the grid on, `indent` columns from the left.
  void draw(Grid& grid, int indent = 0) const;

 private:
  struct Column {
    std::string heading;
    Align align;
  };
  struct Row {
    std::vector<std::string> cells;
    std::optional<double> bar;
    Tone tone;
  };

  std::vector<int> widths(int room) const;
  int draw_cells(Grid& grid, int row, int indent, const Row& cells,
                 const std::vector<int>& widths) const;

  const Look& look_;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

// A bar of part * width columns, in steps of an eighth of a column. part: from 0 to 1; above 0 the
// bar has at least one eighth.
std::string bar_text(double part, int width, Charset charset);

}  // namespace tallyfs::view
