#include "tools/display/time_axis.h"

#include <algorithm>
#include <array>
#include <string>

namespace tallyfs::view {
namespace {

constexpr int kTimeGap = 2;  // the least blanks between two times

// The marks at which a round time begins, so far apart that each has `room` columns for its label.
std::vector<TimeMark> round_times(const TimeAxis& axis, int room) {
  static constexpr std::array<std::uint64_t, 18> kSeconds = {
      1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
  std::vector<TimeMark> made;
  const std::uint64_t from = axis.marks.front().realtime_us;
  const std::uint64_t to = axis.marks.back().realtime_us;
  if (to <= from) return made;
  const double least = static_cast<double>(to - from) / 1e6 * room / axis.columns;
  const auto step = std::ranges::find_if(
      kSeconds, [&](std::uint64_t seconds) { return static_cast<double>(seconds) >= least; });
  if (step == kSeconds.end()) return made;
  const std::uint64_t micros = *step * 1'000'000;
  for (std::size_t i = 1; i + 1 < axis.marks.size(); ++i) {
    const bool is_new =
        axis.marks[i].realtime_us / micros != axis.marks[i - 1].realtime_us / micros;
    if (is_new) made.push_back(axis.marks[i]);
  }
  return made;
}

// The date only where it is another one than that of the label before.
std::string label_after(std::uint64_t before_us, std::uint64_t realtime_us, const Look& look) {
  const bool is_same_day = !look.date || look.date(before_us) == look.date(realtime_us);
  return is_same_day ? look.clock(realtime_us) : look.moment(realtime_us);
}

}  // namespace

void draw_time_axis(Grid& grid, const TimeAxis& axis, const Look& look) {
  const bool is_utf8 = look.charset == Charset::kUtf8;
  int column = grid.put(axis.row, axis.left - 1, is_utf8 ? "└" : "+", {Tone::kDim});
  for (int i = 0; i < axis.columns; ++i) {
    column = grid.put(axis.row, column, is_utf8 ? "─" : "-", {Tone::kDim});
  }
  if (axis.marks.empty()) return;
  const std::uint64_t from = axis.marks.front().realtime_us;
  const std::uint64_t to = axis.marks.back().realtime_us;
  int end = grid.put(axis.row + 1, axis.left, look.moment(from), {Tone::kDim});
  const std::string last_label = label_after(from, to, look);
  if (look.moment(to) == look.moment(from)) return;
  const int last_width = width_of(last_label, look.charset);
  const int last = std::max(end + 1, axis.left + axis.columns - last_width);
  std::uint64_t before = from;
  for (const TimeMark& mark : round_times(axis, last_width + kTimeGap)) {
    const std::string label = label_after(before, mark.realtime_us, look);
    const int width = width_of(label, look.charset);
    const int at = axis.left + mark.column;
    const int start = at - width / 2;
    if (start < end + kTimeGap || start + width + kTimeGap > last) continue;
    grid.put(axis.row, at, is_utf8 ? "┬" : "+", {Tone::kDim});
    end = grid.put(axis.row + 1, start, label, {Tone::kDim});
    before = mark.realtime_us;
  }
  if (last + last_width <= axis.left + axis.room) {
    grid.put(axis.row + 1, last, label_after(before, to, look), {Tone::kDim});
  }
}

}  // namespace tallyfs::view
