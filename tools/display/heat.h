// A heat map that scrolls: one line for each interval, bins from left to right, with the rate and
// the percentiles of the interval. Bins that have no room merge in pairs; those without an end
// never do. Confined to one thread.
//
// The colours' top is the largest count in view up to a power of two. It falls only after a whole
// window below, so that nothing flashes.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/display/change.h"
#include "tools/display/distribution.h"
#include "tools/display/grid.h"
#include "tools/display/heat_colour.h"
#include "tools/display/look.h"

namespace tallyfs::view {

// The top of a heat map's colours, from the largest count of each interval.
class HeatTop {
 public:
  explicit HeatTop(std::size_t window) : window_(window) {}

  void add(Int128 largest);
  Int128 top() const { return top_; }

 private:
  const std::size_t window_;
  std::deque<Int128> tops_;  // of the newest intervals, at most window_
  Int128 top_ = 2;
};

class HeatMap {
 public:
  static constexpr std::size_t kWindow = 60;  // intervals

  // period: of the intervals.
  HeatMap(const Look& look, Colours colours, Steps steps,
          std::chrono::microseconds period = std::chrono::seconds(1))
      : look_(look),
        levels_(levels_of(colours, look.charset)),
        colours_(colours),
        steps_(steps),
        is_below_second_(period < std::chrono::seconds(1)) {}

  // The line of an interval that ended at `realtime_us`; before it, legend and axis whenever they
  // are not those that were drawn last. `missed` intervals before it were not seen: they are
  // hatched, in a line that has the time of their end. A change that is not known, as after a
  // reset, is dotted. Lines of one second have parts of it.
  void draw_line(Grid& grid, const Statistic& statistic, const Change& change,
                 std::uint64_t realtime_us, std::uint64_t missed);

 private:
  struct Bins {
    Distribution distribution;
    int columns_each = 1;
    int columns() const { return columns_each * static_cast<int>(distribution.bins.size()); }
  };

  // Legend and axis.
  void draw_head(Grid& grid, const Statistic& statistic);
  int room() const;
  Bins bins_of(const Statistic& statistic, const Statistic* counted) const;
  static std::vector<Int128> ends_of(const Bins& bins);
  void draw_axis(Grid& grid, const Bins& bins, const Quantity& quantity) const;
  void draw_legend(Grid& grid) const;
  void draw_date(Grid& grid, std::uint64_t realtime_us);
  // Columns of the time before the map.
  int time_columns() const;
  std::string time_text(std::uint64_t realtime_us);
  int draw_frame(Grid& grid, int row, std::uint64_t realtime_us);
  void draw_marks(Grid& grid, const Statistic& statistic, std::uint64_t realtime_us,
                  std::string_view mark, std::string_view what);
  std::string tail(const Statistic& counted, const Change& change) const;

  const Look& look_;
  const int levels_;
  const Colours colours_;
  const Steps steps_;
  const bool is_below_second_;
  HeatTop top_{kWindow};
  std::vector<Int128> ends_;  // of the bins of the axis that was drawn last
  std::string date_;          // of the line that was drawn last
  std::string time_;          // of that line, too
};

}  // namespace tallyfs::view
