// Bars and lines: what `plot` draws. Bars of a distribution or of a list, and lines over time, in
// braille dots, with the span from min to max shaded. Confined to the grid's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/view/grid.h"
#include "core/view/look.h"
#include "core/view/quantity.h"
#include "core/view/statistic.h"

namespace tallyfs::view {

// A value at a time. Without one it was not known, or there was none.
struct Point {
  std::uint64_t realtime_us = 0;
  std::optional<double> value;
  std::optional<double> min;
  std::optional<double> max;
};

struct Series {
  std::vector<Point> points;  // oldest first
  Quantity quantity;
};

// Of a history; nothing of other types.
std::optional<Series> series_of(const Interface& interface, const Statistic& statistic);
// The number of a snapshot that a line over snapshots is made of: of a type=last its X; nothing of
// other types.
std::optional<double> level_of_now(const Statistic& statistic);

bool has_bars(const Statistic& statistic);
// has_bars(): bins, or the values of a list, the largest total first.
void draw_bars(Grid& grid, const Statistic& statistic, const Look& look);

// `rows` of the grid for the line, and two for the axis of time.
void draw_series(Grid& grid, const Series& series, int rows, const Look& look);

// Steps of 1, 2 or 5 times a power of ten: the least one of which at most `count` fit into a span.
double tick_of(double span, int count);

}  // namespace tallyfs::view
