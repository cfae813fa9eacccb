#include "tools/display/heat_panel.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/display/heat_axis.h"
#include "tools/display/time_axis.h"

namespace tallyfs::view {
namespace {

constexpr int kEndText = 7;  // columns of the ends of bins
constexpr int kAxisRows = 2;
constexpr int kLegendRows = 1;

class HeatPanel {
 public:
  HeatPanel(Grid& grid, const Area& area, const HeatPicture& picture, const Look& look)
      : grid_(grid),
        area_(area),
        statistic_(picture.statistic),
        columns_(picture.columns),
        colours_(picture.colours),
        look_(look),
        left_(area.column + kEndText + 1),
        bins_max_(static_cast<std::size_t>(std::max(3, area.height - kAxisRows - kLegendRows))) {}

  void draw() const {
    const auto room = static_cast<std::size_t>(std::max(1, area_.width - kEndText - 1));
    const std::size_t from = columns_.size() > room ? columns_.size() - room : 0;
    const Int128 top = top_of(largest(from));
    const auto bins = binned(statistic_, nullptr, bins_max_).bins;
    draw_legend(grid_, area_, {top, colours_});
    draw_ends(bins);
    for (std::size_t i = from; i < columns_.size(); ++i) {
      draw_column(columns_[i], left_ + static_cast<int>(i - from), top,
                  static_cast<int>(bins.size()));
    }
    draw_time(from, static_cast<int>(bins.size()));
  }

 private:
  int row_of(int bin, int bins) const { return area_.row + kLegendRows + bins - 1 - bin; }

  Int128 largest(std::size_t from) const {
    Int128 found = 0;
    for (std::size_t i = from; i < columns_.size(); ++i) {
      if (!columns_[i].counted) continue;
      for (const Bin& bin : binned(statistic_, &*columns_[i].counted, bins_max_).bins) {
        found = std::max(found, bin.count);
      }
    }
    return found;
  }

  void draw_ends(const std::vector<Bin>& bins) const {
    const Quantity quantity = quantity_of_x(statistic_);
    const int size = static_cast<int>(bins.size());
    std::string before;
    for (int i = 0; i < size; ++i) {
      std::string text = end_text(bins[static_cast<std::size_t>(i)], quantity, look_.charset);
      if (text == before)
        text.clear();
      else
        before = text;
      const int blank = std::max(0, kEndText - width_of(text, look_.charset));
      grid_.put(row_of(i, size), area_.column + blank, text, {Tone::kDim});
      grid_.put(row_of(i, size), left_ - 1, bar(), {Tone::kDim});
    }
  }

  void draw_column(const HeatColumn& column, int at, Int128 top, int bins) const {
    const bool is_known = column.counted.has_value() && !column.is_missed;
    const auto counts = binned(statistic_, is_known ? &*column.counted : nullptr, bins_max_).bins;
    const int levels = levels_of(colours_, look_.charset);
    for (int i = 0; i < bins; ++i) {
      const int row = row_of(i, bins);
      if (!is_known) {
        grid_.put(row, at, column.is_missed ? "/" : ".", {Tone::kDim});
        continue;
      }
      const int level =
          level_of(counts[static_cast<std::size_t>(i)].count, top, levels, Steps::kLog);
      grid_.put(row, at, shade_of(level, colours_, look_.charset),
                {Tone::kHeat, static_cast<std::uint8_t>(level)});
    }
  }

  void draw_time(std::size_t from, int bins) const {
    const int width = static_cast<int>(columns_.size() - from);
    TimeAxis axis{.row = area_.row + kLegendRows + bins,
                  .left = left_,
                  .columns = width,
                  .room = area_.column + area_.width - left_};
    for (int i = 0; i < width; ++i) {
      axis.marks.push_back({i, columns_[from + static_cast<std::size_t>(i)].realtime_us});
    }
    draw_time_axis(grid_, axis, look_);
  }

  const char* bar() const { return look_.charset == Charset::kUtf8 ? "│" : "|"; }

  Grid& grid_;
  const Area& area_;
  const Statistic& statistic_;
  const std::deque<HeatColumn>& columns_;
  const Colours colours_;
  const Look& look_;
  const int left_;
  const std::size_t bins_max_;
};

}  // namespace

void append_missed(std::deque<HeatColumn>& columns, const MissedTime& missed,
                   std::size_t columns_max) {
  const std::uint64_t period_us = missed.period_us;
  if (period_us == 0) return;
  const std::uint64_t periods = (missed.length_us + period_us / 2) / period_us;
  for (std::uint64_t left = std::min<std::uint64_t>(periods, columns_max); left > 0; --left) {
    const std::uint64_t later_us = std::min(missed.end_us, (left - 1) * period_us);
    columns.push_back({.realtime_us = missed.end_us - later_us, .is_missed = true});
  }
}

void draw_heat_panel(Grid& grid, const Area& area, const HeatPicture& picture, const Look& look) {
  HeatPanel(grid, area, picture, look).draw();
}

std::string sparkline(const std::deque<double>& values, int width, Charset charset) {
  static constexpr std::array kHeights = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array kAscii = {" ", ".", ".", ":", "-", "=", "+", "*", "#"};
  const auto size = static_cast<std::size_t>(std::max(0, width));
  const std::size_t from = values.size() > size ? values.size() - size : 0;
  double largest = 0;
  for (std::size_t i = from; i < values.size(); ++i) largest = std::max(largest, values[i]);
  std::string made;
  for (std::size_t i = from; i < values.size(); ++i) {
    // A value above 0 has at least the lowest height.
    const double part = largest > 0 ? values[i] / largest : 0;
    const auto height = static_cast<std::size_t>(std::ceil(std::clamp(part, 0.0, 1.0) * 8));
    made.append(charset == Charset::kUtf8 ? kHeights[height] : kAscii[height]);
  }
  return made;
}

}  // namespace tallyfs::view
