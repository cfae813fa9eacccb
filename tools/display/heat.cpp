#include "tools/display/heat.h"

#include <algorithm>
#include <utility>

#include "core/base/counted.h"
#include "tools/display/heat_axis.h"

namespace tallyfs::view {
namespace {

constexpr int kTime = 10;         // columns of the clock before the map
constexpr int kTimeOfParts = 14;  // with milliseconds
constexpr int kTail = 30;         // of the numbers behind it
constexpr int kColumnsEach = 2;   // a bin's, where there is room
constexpr int kLabelMax = 6;

std::string padded(std::string_view text, int width, Charset charset) {
  const int blank = std::max(0, width - width_of(text, charset));
  return std::string(static_cast<std::size_t>(blank), ' ').append(text);
}

}  // namespace

void HeatTop::add(Int128 largest) {
  tops_.push_back(top_of(largest));
  if (tops_.size() > window_) tops_.pop_front();
  const Int128 highest = std::ranges::max(tops_);
  if (highest > top_ || tops_.size() == window_) top_ = highest;
}

int HeatMap::room() const { return std::max(8, look_.width - time_columns() - kTail); }

HeatMap::Bins HeatMap::bins_of(const Statistic& statistic, const Statistic* counted) const {
  Bins made{.distribution = binned(statistic, counted, static_cast<std::size_t>(room()))};
  const auto bins = static_cast<int>(made.distribution.bins.size());
  made.columns_each = bins * kColumnsEach <= room() ? kColumnsEach : 1;
  return made;
}

// A label ends where its bin ends; one that would touch the label before it is left out.
void HeatMap::draw_axis(Grid& grid, const Bins& bins, const Quantity& quantity) const {
  const int row = grid.height();
  int free_from = 0;
  std::string before;
  for (std::size_t i = 0; i < bins.distribution.bins.size(); ++i) {
    const std::string label = end_text(bins.distribution.bins[i], quantity, look_.charset);
    const int end = time_columns() + 1 + bins.columns_each * static_cast<int>(i + 1);
    const int width = width_of(label, look_.charset);
    const bool is_last = bins.distribution.bins[i].ends == Bin::Ends::kNoLast;
    const int start = is_last ? std::max(free_from, end - bins.columns_each) : end - width;
    if (start < free_from || label == before || (width > kLabelMax && !is_last)) continue;
    grid.put(row, start, label, {Tone::kDim});
    free_from = start + width + 1;
    before = label;
  }
  if (grid.height() == row) grid.put_line("");
}

std::vector<Int128> HeatMap::ends_of(const Bins& bins) {
  std::vector<Int128> made;
  for (const Bin& bin : bins.distribution.bins) made.push_back(bin.last);
  return made;
}

void HeatMap::draw_legend(Grid& grid) const {
  view::draw_legend(grid, {grid.height(), time_columns(), grid.width() - time_columns(), 1},
                    {top_.top(), colours_, steps_});
}

void HeatMap::draw_head(Grid& grid, const Statistic& statistic) {
  draw_legend(grid);
  const Bins bins = bins_of(statistic, nullptr);
  ends_ = ends_of(bins);
  draw_axis(grid, bins, quantity_of_x(statistic));
  const int row = grid.height() - 1;
  std::string heading = padded("/s", 7, look_.charset);
  for (const char* each : {"p50", "p99"}) heading.append(padded(each, 9, look_.charset));
  const int column =
      std::max(time_columns() + bins.columns() + 3, static_cast<int>(grid.row(row).size()));
  grid.put(row, column, heading, {Tone::kDim});
}

// A line of its own, before the first line of a day that is not today.
void HeatMap::draw_date(Grid& grid, std::uint64_t realtime_us) {
  std::string date = look_.date ? look_.date(realtime_us) : std::string();
  if (date == date_) return;
  date_ = std::move(date);
  if (!date_.empty()) grid.put_line(date_, {Tone::kDim});
}

int HeatMap::time_columns() const { return is_below_second_ ? kTimeOfParts : kTime; }

// A mount is read a little late now and then, so that two lines may be of the same second.
std::string HeatMap::time_text(std::uint64_t realtime_us) {
  const std::string millis = std::to_string(1000 + realtime_us / 1000 % 1000).substr(1);
  std::string text = look_.clock(realtime_us);
  if (is_below_second_)
    text.append(".").append(millis);
  else if (text == time_.substr(0, text.size()))
    text.append(".").append(millis.substr(0, 1));
  time_ = text;
  return text;
}

int HeatMap::draw_frame(Grid& grid, int row, std::uint64_t realtime_us) {
  grid.put(row, 0, time_text(realtime_us), {Tone::kDim});
  return grid.put(row, time_columns(), "|", {Tone::kDim});
}

void HeatMap::draw_marks(Grid& grid, const Statistic& statistic, std::uint64_t realtime_us,
                         std::string_view mark, std::string_view what) {
  const int row = grid.height();
  int column = draw_frame(grid, row, realtime_us);
  const int end = column + bins_of(statistic, nullptr).columns();
  while (column < end) column = grid.put(row, column, mark, {Tone::kDim});
  column = grid.put(row, column, "|", {Tone::kDim});
  grid.put(row, column + 1, what);
}

std::string HeatMap::tail(const Statistic& counted, const Change& change) const {
  const auto rate = change.rate();
  std::string text =
      padded(rate ? number_text(*rate, {}, Digits::kThree, look_.charset) : "-", 7, look_.charset);
  const auto fine = *distribution_of(counted, Detail::kFine);
  for (const std::uint32_t millionths : {500'000u, 990'000u}) {
    const auto found = percentile(fine, millionths);
    std::string value = "-";
    if (found) {
      Percentile point = *found;
      if (point.ends == Bin::Ends::kBoth) point.low = point.high;
      value = percentile_text(point, quantity_of_x(counted), look_.exact, look_.charset);
    }
    text.append(padded(value, 9, look_.charset));
  }
  return text;
}

void HeatMap::draw_line(Grid& grid, const Statistic& statistic, const Change& change,
                        std::uint64_t realtime_us, std::uint64_t missed) {
  draw_date(grid, realtime_us);
  if (missed > 0) {
    const std::uint64_t end_us = realtime_us - std::min(realtime_us, change.micros / (missed + 1));
    draw_marks(grid, statistic, end_us, "/",
               counted(std::to_string(missed), "interval").append(" missed"));
  }
  if (!change.counted) {
    return draw_marks(grid, statistic, realtime_us, ".", statistic.on ? "reset" : "off");
  }
  const Bins bins = bins_of(statistic, &*change.counted);
  Int128 largest = 0;
  for (const Bin& bin : bins.distribution.bins) largest = std::max(largest, bin.count);
  const Int128 before = top_.top();
  top_.add(largest);
  if (ends_of(bins) != ends_) {
    draw_head(grid, statistic);
  } else if (top_.top() != before) {
    draw_legend(grid);
  }
  const int row = grid.height();
  int column = draw_frame(grid, row, realtime_us);
  for (const Bin& bin : bins.distribution.bins) {
    const int level = level_of(bin.count, top_.top(), levels_, steps_);
    for (int i = 0; i < bins.columns_each; ++i) {
      column = grid.put(row, column, shade_of(level, colours_, look_.charset),
                        {Tone::kHeat, static_cast<std::uint8_t>(level)});
    }
  }
  column = grid.put(row, column, "|", {Tone::kDim});
  grid.put(row, column + 1, tail(*change.counted, change));
}

}  // namespace tallyfs::view
