#include "tools/display/table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace tallyfs::view {
namespace {

constexpr int kGap = 2;
constexpr int kColumnMin = 8;  // to which a column is cut

}  // namespace

void Table::add_column(std::string heading, Align align) {
  columns_.push_back({std::move(heading), align});
}

void Table::add_row(std::vector<std::string> cells, std::optional<double> bar, Tone tone) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), bar, tone});
}

std::vector<int> Table::widths(int room) const {
  std::vector<int> made;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    int width = look_.header ? width_of(columns_[i].heading, look_.charset) : 0;
    for (const Row& row : rows_) width = std::max(width, width_of(row.cells[i], look_.charset));
    made.push_back(width);
  }
  const auto sum = [&] {
    return std::accumulate(made.begin(), made.end(), 0) + kGap * static_cast<int>(made.size() - 1);
  };
  while (look_.cut && !made.empty() && sum() > room) {
    std::size_t widest = made.size();
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (columns_[i].align != Align::kLeft || made[i] <= kColumnMin) continue;
      if (widest == made.size() || made[i] > made[widest]) widest = i;
    }
    if (widest == made.size()) break;
    made[widest] -= 1;
  }
  return made;
}

int Table::draw_cells(Grid& grid, int row, int indent, const Row& cells,
                      const std::vector<int>& widths) const {
  int column = indent;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const std::string text =
        look_.cut ? cut_middle(cells.cells[i], widths[i], look_.charset) : cells.cells[i];
    const int blank =
        columns_[i].align == Align::kRight ? widths[i] - width_of(text, look_.charset) : 0;
    grid.put(row, column + blank, text, {cells.tone});
    column += widths[i] + kGap;
  }
  return column;
}

void Table::draw(Grid& grid, int indent) const {
  const auto widths = this->widths(look_.width - indent);
  if (look_.header) {
    Row heading{.cells = {}, .bar = std::nullopt, .tone = Tone::kBold};
    for (const Column& column : columns_) heading.cells.push_back(column.heading);
    draw_cells(grid, grid.height(), indent, heading, widths);
  }
  for (const Row& row : rows_) {
    const int at = grid.height();
    const int column = draw_cells(grid, at, indent, row, widths);
    const int room = std::min(kBarMax, look_.width - column);
    if (row.bar && room > 0) {
      grid.put(at, column, bar_text(*row.bar, room, look_.charset), {Tone::kBar});
    }
  }
}

std::string bar_text(double part, int width, Charset charset) {
  static constexpr std::array kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (part <= 0 || width <= 0) return "";
  const double columns = std::min(part, 1.0) * width;
  std::string made;
  if (charset == Charset::kAscii) {
    return std::string(static_cast<std::size_t>(std::max(1.0, std::round(columns))), '#');
  }
  const int eighths = std::max(1, static_cast<int>(std::lround(columns * 8)));
  for (int i = 0; i < eighths / 8; ++i) made.append("█");
  return made.append(kEighths[static_cast<std::size_t>(eighths % 8)]);
}

}  // namespace tallyfs::view
