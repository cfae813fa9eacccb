// Bars and lines: what `plot` draws. Bars of a distribution or of a list, and lines over time, in
// braille dots, with the span from min to max shaded. Confined to the grid's thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/display/grid.h"
#include "tools/display/look.h"
#include "tools/display/quantity.h"
#include "tools/display/statistic.h"

namespace tallyfs::view {

// A value at a time. Without one it was not known, or there was none.
struct Point {
  std::uint64_t realtime_us = 0;
  std::optional<double> value;
  std::optional<double> min;
  std::optional<double> max;
};

// The names of the line and of the ends of the shade: "p99", "p50", "p99". No line: no legend;
// no `high`: no shade.
struct Series {
  std::vector<Point> points{};  // oldest first
  Quantity quantity{};
  std::string line{};
  std::string low{};
  std::string high{};
};

// The line of a history; nullopt for other types. With mode=quantiles it is the highest percentile
// that the history keeps, and its shade begins at the lowest. With mode=range it is the averages,
// and the shade goes from min to max.
std::optional<Series> series_of(const Interface& interface, const Statistic& statistic);
// The value of a snapshot for a line over snapshots: the X of a type=last; nullopt for other types.
std::optional<double> level_of_now(const Statistic& statistic);

bool has_bars(const Statistic& statistic);
// has_bars(): bins, or the values of a list, the largest total first.
void draw_bars(Grid& grid, const Statistic& statistic, const Look& look);

// "line: p99, shade: p50 to p99"; empty if the series names no line.
std::string legend_of(const Series& series);
// The highest number that is drawn: a few outliers that would flatten all else are beyond it, if
// there is a legend to say so. The least double without a number.
double drawn_top_of(const Series& series);
// A legend if there is one, `rows` of the grid for the line, and two for the axis of time. A few
// outliers that would flatten all else are beyond the top, if there is a legend to say so.
void draw_series(Grid& grid, const Series& series, int rows, const Look& look);

// Steps of 1, 2 or 5 times a power of ten: the least one of which at most `count` fit into a span.
double tick_of(double span, int count);

}  // namespace tallyfs::view
