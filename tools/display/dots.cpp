#include "tools/display/dots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace tallyfs::view {
namespace {

constexpr int kDown = 4;    // dots in a cell
constexpr int kSpread = 4;  // the most dots from one point to the next

std::string braille(std::uint8_t dots) {
  // U+2800 to U+28FF in UTF-8.
  return {'\xE2', static_cast<char>(0xA0 | (dots >> 6)), static_cast<char>(0x80 | (dots & 0x3F))};
}

std::uint8_t bit_of(int x, int y) {
  constexpr std::uint8_t kBits[kDown][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  return kBits[y % kDown][x % 2];
}

}  // namespace

Dots::Dots(int columns, int rows, double low, double high)
    : columns_(columns),
      rows_(rows),
      low_(low),
      high_(high),
      cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

int Dots::dot_x(std::size_t i, std::size_t count) const {
  const auto dots = static_cast<std::size_t>(columns_ * kAcross);
  if (count < 2) return 0;
  const std::size_t wide = std::min(dots - 1, (count - 1) * kSpread);
  return static_cast<int>(i * wide / (count - 1));
}

int Dots::dot_y(double value) const {
  const double part = std::clamp((value - low_) / (high_ - low_), 0.0, 1.0);
  return static_cast<int>(std::lround((1 - part) * (rows_ * kDown - 1)));
}

Dots::CellDots& Dots::cell(int x, int y) {
  return cells_[static_cast<std::size_t>(y / kDown * columns_ + x / kAcross)];
}

void Dots::line_to(int x, int y) {
  const auto [from_x, from_y] = last_.value_or(std::pair(x, y));
  const int steps = std::max({1, std::abs(x - from_x), std::abs(y - from_y)});
  for (int i = 0; i <= steps; ++i) {
    const int at_x = from_x + (x - from_x) * i / steps;
    const int at_y = from_y + (y - from_y) * i / steps;
    cell(at_x, at_y).line |= bit_of(at_x, at_y);
  }
  last_ = {x, y};
}

// The span of a point reaches back to the point before it, as the line does.
void Dots::add(const Point& point, std::size_t i, std::size_t count) {
  const int x = dot_x(i, count);
  if (point.min && point.max) shade(last_ ? last_->first + 1 : x, x, *point.min, *point.max);
  if (!point.value) {
    last_.reset();
    return;
  }
  line_to(x, dot_y(*point.value));
}

void Dots::shade(int from_x, int to_x, double min, double max) {
  for (int x = std::min(from_x, to_x); x <= to_x; ++x) {
    for (int y = dot_y(max); y <= dot_y(min); ++y) cell(x, y).is_shaded = true;
  }
}

int Dots::columns_used(std::size_t count) const {
  return count == 0 ? 1 : column_of(count - 1, count) + 1;
}

void Dots::draw(Grid& grid, int grid_row, int column, int row, Charset charset) const {
  const bool is_utf8 = charset == Charset::kUtf8;
  for (int i = 0; i < columns_; ++i) {
    const CellDots& dots = cells_[static_cast<std::size_t>(row * columns_ + i)];
    if (dots.line != 0) {
      grid.put(grid_row, column + i, is_utf8 ? braille(dots.line) : "*", {Tone::kBar});
    } else if (dots.is_shaded) {
      grid.put(grid_row, column + i, is_utf8 ? "░" : ":", {Tone::kDim});
    }
  }
}

}  // namespace tallyfs::view
