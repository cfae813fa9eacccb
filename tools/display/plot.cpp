#include "tools/display/plot.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/base/counted.h"
#include "tools/display/distribution.h"
#include "tools/display/dots.h"
#include "tools/display/table.h"
#include "tools/display/time_axis.h"

namespace tallyfs::view {
namespace {

constexpr std::size_t kPointsToCut = 8;

struct BarRow {
  std::string label;
  Int128 count = 0;
};

std::vector<BarRow> rows_of_list(const List& list, const Quantity& quantity, const Look& look) {
  std::vector<std::size_t> order(std::min(list.x.size(), list.totals.size()));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](auto a, auto b) { return list.totals[a] > list.totals[b]; });
  if (!look.all && order.size() > look.rows_max) order.resize(look.rows_max);
  std::vector<BarRow> made;
  for (const std::size_t i : order)
    made.push_back({exact_text(list.x[i], quantity), list.totals[i]});
  return made;
}

std::vector<BarRow> rows_of_bins(const Statistic& statistic, const Look& look) {
  const Quantity quantity = quantity_of_x(statistic);
  auto distribution = *distribution_of(statistic, Detail::kOctaves);
  if (!look.all) distribution = merged(distribution, look.rows_max);
  std::vector<BarRow> made;
  for (const Bin& bin : distribution.bins) {
    made.push_back({bin_text(bin, quantity, look.exact, look.charset), bin.count});
  }
  return made;
}

int longest_label(const std::vector<BarRow>& rows, const Look& look) {
  int width = 0;
  for (const BarRow& row : rows) width = std::max(width, width_of(row.label, look.charset));
  return width;
}

// The ends of the value axis, at ticks.
struct Axis {
  double low = 0;
  double high = 1;
  double tick = 1;
};

// The numbers of a member that the points have, the highest first.
std::vector<double> descending(const Series& series, std::optional<double> Point::*member) {
  std::vector<double> made;
  for (const Point& point : series.points) {
    if (point.*member) made.push_back(*(point.*member));
  }
  std::ranges::sort(made, std::greater());
  return made;
}

// The highest, or the highest behind `outliers` of them if those stand out by more than three
// times.
double highest_of(const std::vector<double>& numbers, std::size_t outliers) {
  if (numbers.empty()) return std::numeric_limits<double>::lowest();
  const bool is_enough = numbers.size() >= kPointsToCut && outliers < numbers.size();
  const double usual = is_enough ? numbers[outliers] : 0;
  return usual > 0 && numbers.front() > 3 * usual ? usual : numbers.front();
}

Axis axis_of(const Series& series, int rows) {
  double low = 0;
  double high = 0;
  bool is_first = true;
  for (const Point& point : series.points) {
    for (const auto& each : {point.value, point.min, point.max}) {
      if (!each) continue;
      low = is_first ? *each : std::min(low, *each);
      is_first = false;
    }
  }
  if (!is_first) high = drawn_top_of(series);
  // From 0, unless what varies is only a small part of the height.
  if (low > 0 && low < high / 2) low = 0;
  if (high <= low) high = low + std::max(1.0, std::fabs(low) * 0.01);
  const double tick = tick_of(high - low, std::max(2, rows / 2));
  const double least = std::floor(low / tick) * tick;
  return {
      .low = least, .high = std::max(least + tick, std::ceil(high / tick) * tick), .tick = tick};
}

void name_percentiles(Series& series, const std::vector<QuantileColumn>& percentiles) {
  series.line = std::string("p").append(percentiles.back().q);
  if (percentiles.size() < 2) return;
  series.low = std::string("p").append(percentiles.front().q);
  series.high = series.line;
}

// How many periods are beyond the top.
std::string beyond_text(const Series& series, const Axis& axis, const Look& look) {
  int periods = 0;
  double most = axis.high;
  for (const Point& point : series.points) {
    const double highest = std::max(point.value.value_or(axis.high), point.max.value_or(axis.high));
    periods += highest > axis.high ? 1 : 0;
    most = std::max(most, highest);
  }
  if (periods == 0) return "";
  return std::string("; ")
      .append(counted(std::to_string(periods), "period"))
      .append(" beyond the top, up to ")
      .append(number_text(most, series.quantity, Digits::kThree, look.charset));
}

}  // namespace

std::string legend_of(const Series& series) {
  if (series.line.empty()) return "";
  std::string text = std::string("line: ").append(series.line);
  if (series.high.empty()) return text;
  return text.append(", shade: ").append(series.low).append(" to ").append(series.high);
}

// Without a legend all of it. A legend can say what is beyond the top: one point of the line, and a
// twentieth of the ends of the shade.
double drawn_top_of(const Series& series) {
  const auto line = descending(series, &Point::value);
  const auto ends = descending(series, &Point::max);
  if (series.line.empty()) return std::max(highest_of(line, 0), highest_of(ends, 0));
  return std::max(highest_of(line, 1), highest_of(ends, ends.size() / 20 + 1));
}

double tick_of(double span, int count) {
  const double least = span / std::max(1, count);
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * power >= least * (1 - 1e-9)) return step * power;
  }
  return 10 * power;
}

std::optional<Series> series_of(const Interface& interface, const Statistic& statistic) {
  const auto* history = std::get_if<History>(&statistic.values);
  if (!history) return std::nullopt;
  const bool has_totals = !history->totals.empty() || history->number.empty();
  Series made{.quantity = has_totals ? quantity_of_totals(statistic) : quantity_of_x(statistic)};
  const auto& percentiles = history->quantiles;
  if (!percentiles.empty()) {
    name_percentiles(made, percentiles);
  } else if (!has_totals) {
    made.line = "avg";
    made.low = "min";
    made.high = "max";
  }
  const auto x = [](const std::optional<std::int64_t>& value) {
    return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
  };
  for (std::size_t i = 0; i < history->end_us.size(); ++i) {
    Point point{.realtime_us = interface.realtime_at(history->end_us[i])};
    if (has_totals) {
      point.value = static_cast<double>(history->totals[i]);
    } else if (!percentiles.empty()) {
      point.value = x(percentiles.back().values[i]);
      if (!made.high.empty()) {
        point.min = x(percentiles.front().values[i]);
        point.max = point.value;
      }
    } else {
      point.value = history->avg[i];
      point.min = x(history->min[i]);
      point.max = x(history->max[i]);
    }
    made.points.push_back(point);
  }
  return made;
}

std::optional<double> level_of_now(const Statistic& statistic) {
  const auto* last = std::get_if<Last>(&statistic.values);
  if (!last || !last->time_us) return std::nullopt;
  return static_cast<double>(last->x);
}

bool has_bars(const Statistic& statistic) {
  return std::holds_alternative<List>(statistic.values) ||
         distribution_of(statistic, Detail::kOctaves).has_value();
}

void draw_bars(Grid& grid, const Statistic& statistic, const Look& look) {
  const auto* list = std::get_if<List>(&statistic.values);
  const auto rows =
      list ? rows_of_list(*list, quantity_of_x(statistic), look) : rows_of_bins(statistic, look);
  Int128 largest = 1;
  for (const BarRow& row : rows) largest = std::max(largest, row.count);
  const int labels = longest_label(rows, look);
  const int counts = width_of(grouped_text(largest), look.charset);
  const int room = std::max(1, look.width - labels - counts - 3);
  for (const BarRow& row : rows) {
    const int at = grid.height();
    grid.put(at, labels - width_of(row.label, look.charset), row.label);
    grid.put(at, labels + 1, look.charset == Charset::kUtf8 ? "┤" : "|", {Tone::kDim});
    const double part = static_cast<double>(row.count) / static_cast<double>(largest);
    const int end = grid.put(at, labels + 2, bar_text(part, room, look.charset), {Tone::kBar});
    grid.put(at, end + 1, grouped_text(row.count));
  }
  if (list && list->x.size() > rows.size()) {
    grid.put_line(std::string("(")
                      .append(std::to_string(list->x.size() - rows.size()))
                      .append(" more, all with less: --all)"),
                  {Tone::kDim});
  }
}

void draw_series(Grid& grid, const Series& series, int rows, const Look& look) {
  const Axis axis = axis_of(series, rows);
  if (const std::string legend = legend_of(series); !legend.empty()) {
    grid.put_line(std::string(legend).append(beyond_text(series, axis, look)), {Tone::kDim});
  }
  std::vector<std::string> labels(static_cast<std::size_t>(rows));
  int label_width = 0;
  const double span = axis.high - axis.low;
  for (double tick = axis.low; tick <= axis.high + axis.tick / 2; tick += axis.tick) {
    const auto row = static_cast<std::size_t>(std::lround((axis.high - tick) / span * (rows - 1)));
    // 0 is not the sum of many steps.
    const double value = std::fabs(tick) < axis.tick / 1000 ? 0 : tick;
    labels[row] = number_text(value, series.quantity, Digits::kThree, look.charset);
    label_width = std::max(label_width, width_of(labels[row], look.charset));
  }
  const int left = label_width + 2;
  Dots dots(std::max(2, look.width - left), rows, axis.low, axis.high);
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    dots.add(series.points[i], i, series.points.size());
  }
  for (int row = 0; row < rows; ++row) {
    const std::string& label = labels[static_cast<std::size_t>(row)];
    const int at = grid.height();
    grid.put(at, label_width - width_of(label, look.charset), label);
    const char* const mark =
        look.charset == Charset::kAscii ? (label.empty() ? "|" : "+") : (label.empty() ? "│" : "┤");
    grid.put(at, label_width + 1, mark, {Tone::kDim});
    dots.draw(grid, at, left, row, look.charset);
  }
  const std::size_t count = series.points.size();
  TimeAxis time{.row = grid.height(),
                .left = left,
                .columns = dots.columns_used(count),
                .room = std::max(2, look.width - left)};
  for (std::size_t i = 0; i < count; ++i) {
    time.marks.push_back({dots.column_of(i, count), series.points[i].realtime_us});
  }
  draw_time_axis(grid, time, look);
}

}  // namespace tallyfs::view
