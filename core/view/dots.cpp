#include "core/view/dots.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

namespace tallyfs::view {
namespace {

constexpr int kDown = 4;     // dots in a cell
constexpr int kTimeGap = 2;  // the least blanks between two times
constexpr int kSpread = 4;   // the most dots from one point to the next

std::string braille(std::uint8_t dots) {
  // U+2800 to U+28FF in UTF-8.
  return {'\xE2', static_cast<char>(0xA0 | (dots >> 6)), static_cast<char>(0x80 | (dots & 0x3F))};
}

std::uint8_t bit_of(int x, int y) {
  constexpr std::uint8_t kBits[kDown][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  return kBits[y % kDown][x % 2];
}

// The points at which a round time begins, so far apart that each has `room` columns for its label.
std::vector<std::size_t> times_inside(const Series& series, int columns, int room) {
  static constexpr std::array<std::uint64_t, 18> kSeconds = {
      1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
  std::vector<std::size_t> made;
  const std::uint64_t from = series.points.front().realtime_us;
  const std::uint64_t to = series.points.back().realtime_us;
  if (to <= from) return made;
  const double least = static_cast<double>(to - from) / 1e6 * room / columns;
  const auto step = std::ranges::find_if(
      kSeconds, [&](std::uint64_t seconds) { return static_cast<double>(seconds) >= least; });
  if (step == kSeconds.end()) return made;
  const std::uint64_t micros = *step * 1'000'000;
  for (std::size_t i = 1; i + 1 < series.points.size(); ++i) {
    const bool is_new =
        series.points[i].realtime_us / micros != series.points[i - 1].realtime_us / micros;
    if (is_new) made.push_back(i);
  }
  return made;
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

void draw_time_axis(Grid& grid, const Series& series, int left, const Dots& dots,
                    const Look& look) {
  const std::size_t count = series.points.size();
  const int columns = dots.columns_used(count);
  const bool is_utf8 = look.charset == Charset::kUtf8;
  const int row = grid.height();
  int column = grid.put(row, left - 1, is_utf8 ? "└" : "+", {Tone::kDim});
  for (int i = 0; i < columns; ++i)
    column = grid.put(row, column, is_utf8 ? "─" : "-", {Tone::kDim});
  if (series.points.empty()) return;
  const std::string from = look.clock(series.points.front().realtime_us);
  const std::string to = look.clock(series.points.back().realtime_us);
  int end = grid.put(row + 1, left, from, {Tone::kDim});
  if (to == from) return;
  const int width = width_of(to, look.charset);
  const int last = std::max(end + 1, left + columns - width);
  for (const std::size_t i : times_inside(series, columns, width + kTimeGap)) {
    const int at = left + dots.column_of(i, count);
    const int start = at - width / 2;
    if (start < end + kTimeGap || start + width + kTimeGap > last) continue;
    grid.put(row, at, is_utf8 ? "┬" : "+", {Tone::kDim});
    end = grid.put(row + 1, start, look.clock(series.points[i].realtime_us), {Tone::kDim});
  }
  grid.put(row + 1, last, to, {Tone::kDim});
}

}  // namespace tallyfs::view
