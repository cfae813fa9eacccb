#include "tools/ctl/top_draw.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>
#include <vector>

#include "core/base/text.h"
#include "tools/ctl/past_span.h"
#include "tools/display/plot.h"
#include "tools/display/show.h"
#include "tools/display/summary.h"

namespace tallyfs {
namespace {

constexpr int kListWidth = 58;  // beside a picture
constexpr int kNarrow = 100;    // below it, the list is alone
constexpr int kSpark = 20;
// Where the column beside the rate ends: "<0.1", and "silent".
constexpr int kShareEnd = 13;
constexpr int kFactorEnd = 14;
// Hints of keys: the screen shows as many as there is room for, and always the last two.
constexpr std::array kKeys = {"Enter zoom", "Tab next", "/ filter", "Space pause",
                              "h heat",     "b bars",   "s sort",   "d define",
                              "o on/off",   "r reset",  "e every"};
constexpr const char* kLastKeys = "? help  q quit";
constexpr std::array kHelp = {
    "Up Down j k PgUp PgDn Home End   move",
    "Enter      the selected one alone; Esc goes back",
    "Tab, Left, Right   the next or previous statistic of the interface",
    "h  b       heat map, or bars",
    "/          filter: letters of a name; Enter keeps it, Esc takes it away",
    "s          sort by rate or by name, with --vs by change",
    "Space      pause, and go on",
    "d          edit the definition of the statistic",
    "o          switch the interface off, or on",
    "r          reset the statistic's data, after y",
    "t  T       in a store: a minute later, a minute earlier",
    "<  >       of the past: slower, faster",
    "e          the next longer period: 1 s, 2 s, 5 s, 10 s, 250 ms",
    "q          quit",
    "Mouse: a click selects, the wheel scrolls; not so with --no-mouse.",
};

class TopDrawer {
 public:
  TopDrawer(view::Grid& grid, const TopModel& model, TopScreen& screen, view::Colours colours,
            const view::Look& look)
      : grid_(grid), model_(model), screen_(screen), colours_(colours), look_(look) {}

  void draw() {
    if (grid_.width() < kTopWidthMin || screen_.height < kTopHeightMin) return draw_too_small();
    draw_header();
    switch (screen_.page) {
      case TopScreen::Page::kHelp:
        draw_help();
        break;
      case TopScreen::Page::kZoom:
        draw_picture({1, 1, grid_.width() - 2, screen_.height - 3});
        break;
      case TopScreen::Page::kList:
        draw_list();
        if (grid_.width() >= kNarrow) {
          draw_picture({1, kListWidth + 2, grid_.width() - kListWidth - 3, screen_.height - 3});
        }
        break;
    }
    draw_foot();
  }

 private:
  void draw_too_small() {
    grid_.put(0, 0, "The window is too small.");
    grid_.put(1, 0, "top needs 60 columns, 12 rows.");
  }

  void draw_header() {
    const view::Tree& tree = model_.tree();
    std::uint64_t statistics = 0;
    for (const auto& each : tree.interfaces) statistics += each.statistics;
    const view::Tone tone = screen_.fault.empty() ? view::Tone::kBold : view::Tone::kBad;
    constexpr int kFilterMax = 20;
    std::string right;
    if (!model_.filter().empty()) {
      right = " filter " + view::cut_middle(model_.filter(), kFilterMax, look_.charset) + "  ";
    }
    if (screen_.is_paused) right.append("paused  ");
    if (tree.realtime_us != 0) right.append(look_.moment(tree.realtime_us)).append("  ");
    right.append(screen_.every).append(" ");
    const int at = grid_.width() - view::width_of(right, look_.charset);
    const std::string text =
        screen_.fault.empty() ? summary(at - 2, statistics) : std::string(screen_.fault);
    grid_.put(0, 1, view::cut_middle(text, std::max(0, at - 2), look_.charset), {tone});
    grid_.put(0, at, right, {view::Tone::kBold});
  }

  // If the text does not fit, it omits the version, then the counts, then the middle of the path.
  std::string summary(int width, std::uint64_t statistics) const {
    const view::Tree& tree = model_.tree();
    const std::string version = "tallyfs " + tree.version + "  ";
    const std::string counts = view::grouped_text(tree.interfaces.size()) + " interfaces  " +
                               view::grouped_text(statistics) + " statistics   ";
    const std::string rates =
        rate_text(model_.rate()) + " samples/s  dropped " + view::grouped_text(screen_.dropped);
    constexpr int kPathMin = 16;
    const auto room = [&](const std::string& rest) {
      return width - view::width_of(rest, look_.charset) - 3;
    };
    const int path = std::min(kPathMin, view::width_of(screen_.where, look_.charset));
    std::string before = version;
    std::string behind = counts + rates;
    if (room(before + behind) < path) before.clear();
    if (room(before + behind) < path) behind = rates;
    const int left = std::max(0, room(before + behind));
    return before + view::cut_middle(screen_.where, left, look_.charset) + "   " + behind;
  }

  static std::string rate_text(double rate) {
    return view::number_text(rate, {}, view::Digits::kThree, view::Charset::kAscii);
  }

  void draw_list() {
    const bool by_rate = model_.order() == TopOrder::kRate;
    const std::string mark = look_.charset == view::Charset::kUtf8 ? "▼" : "v";
    grid_.put(1, 0, std::string("   RATE").append(by_rate ? mark : " "), {view::Tone::kBold});
    const auto marked = [&](std::string name, TopOrder order) {
      return name.append(model_.order() == order ? mark : "");
    };
    if (model_.is_compared()) {
      right_aligned(1, kFactorEnd, marked("VS", TopOrder::kChange), {view::Tone::kBold});
    } else {
      right_aligned(1, kShareEnd, "%", {view::Tone::kBold});
    }
    grid_.put(1, 15, marked("INTERFACE", TopOrder::kName), {view::Tone::kBold});
    grid_.put(1, name_end() + 3, "ON", {view::Tone::kBold});
    grid_.put(1, name_end() + 8, "LAST MINUTE", {view::Tone::kBold});
    const auto& rows = model_.rows();
    keep_in_view(rows.size());
    for (std::size_t i = 0; i < room() && screen_.first_row + i < rows.size(); ++i) {
      const TopRow& row = *rows[screen_.first_row + i];
      draw_row(kTopListRow + static_cast<int>(i), row, row.name == model_.selected());
    }
    if (rows.empty()) grid_.put(kTopListRow, 15, "nothing matches", {view::Tone::kDim});
  }

  std::size_t room() const { return list_rows_of(screen_.height); }
  int list_width() const { return grid_.width() >= kNarrow ? kListWidth : grid_.width(); }
  int name_end() const { return list_width() - kSpark - 9; }

  void keep_in_view(std::size_t size) {
    const std::size_t at = model_.selected_row();
    screen_.first_row = std::min(screen_.first_row, at);
    if (at >= screen_.first_row + room()) screen_.first_row = at - room() + 1;
    if (size <= room()) screen_.first_row = 0;
  }

  void draw_row(int at, const TopRow& row, bool is_selected) {
    const view::Style style{is_selected   ? view::Tone::kSelected
                            : row.on == 0 ? view::Tone::kDim
                                          : view::Tone::kPlain};
    if (is_selected) {
      const auto width = static_cast<std::size_t>(list_width() - 1);
      grid_.put(at, 0, std::string(width, ' '), style);
      grid_.put(at, 0, ">", style);
    }
    const std::optional<double> rate = TopModel::rate_of(row);
    right_aligned(at, 7, row.on == 0 ? "off" : rate ? rate_text(*rate) : "-", style);
    if (model_.is_compared()) {
      const std::string factor = factor_text(rate, model_.other_rate_of(row));
      if (row.on != 0) right_aligned(at, kFactorEnd, factor, style);
    } else if (rate && row.on != 0 && model_.rate() > 0 && row.name != TopModel::kOwn) {
      const auto scaled = [](double value) { return static_cast<Int128>(value * 1000); };
      right_aligned(at, kShareEnd, view::share_text(scaled(*rate), scaled(model_.rate())), style);
    }
    const int name = name_end() - 15;
    grid_.put(at, 15, view::cut_middle(row.name, name, look_.charset), style);
    const std::string on = std::to_string(row.on) + "/" + std::to_string(row.statistics);
    right_aligned(at, name_end() + 6, on, style);
    grid_.put(at, name_end() + 8, view::sparkline(row.recent.minute(), kSpark, look_.charset),
              style);
  }

  void right_aligned(int row, int end, const std::string& text, view::Style style) {
    grid_.put(row, std::max(0, end - view::width_of(text, look_.charset)), text, style);
  }

  void draw_picture(const view::Area& area) {
    const view::Statistic* const statistic = model_.statistic();
    if (!statistic) return;
    const view::Interface& interface = *model_.interface();
    grid_.put(area.row, area.column,
              view::short_heading_of(interface.name, *statistic, interface.time_us, area.width,
                                     look_.charset),
              {view::Tone::kBold});
    const view::Area below{area.row + 1, area.column, area.width, area.height - 2};
    const bool has_bins = view::distribution_of(*statistic, view::Detail::kOctaves).has_value();
    if (has_bins && screen_.picture == TopScreen::Picture::kHeat) {
      draw_heat_panel(grid_, below, {*statistic, model_.columns(), colours_}, look_);
    } else {
      draw_part(below, interface, *statistic);
    }
    const std::string text = view::short_summary_of(*statistic, area.width, look_);
    grid_.put(area.row + area.height - 1, area.column,
              view::cut_middle(text, area.width, look_.charset));
  }

  // Bars, lines or the table of `show`, on a grid of their own.
  void draw_part(const view::Area& area, const view::Interface& interface,
                 const view::Statistic& statistic) {
    view::Look look = look_;
    look.width = area.width;
    look.cut = true;
    look.rows_max = static_cast<std::size_t>(std::max(3, area.height));
    view::Grid part(area.width, look.charset);
    if (view::has_bars(statistic)) {
      view::draw_bars(part, statistic, look);
    } else if (const auto series = view::series_of(interface, statistic)) {
      const int beside = series->line.empty() ? 2 : 3;  // the axis, the legend
      view::draw_series(part, *series, std::max(3, area.height - beside), look);
    } else {
      view::draw_statistic(part, interface, statistic, look);
    }
    for (int row = 0; row < std::min(part.height(), area.height); ++row) {
      int column = area.column;
      for (const view::Cell& cell : part.row(row)) {
        column = grid_.put(area.row + row, column, cell.text, cell.style);
      }
    }
  }

  void draw_help() {
    int row = 2;
    for (const char* line : kHelp) grid_.put(row++, 2, line);
  }

  void draw_keys() {
    const int room = grid_.width() - view::width_of(kLastKeys, look_.charset) - 1;
    int column = 1;
    for (const std::string_view key : kKeys) {
      if (column + view::width_of(key, look_.charset) + 2 > room) break;
      column = grid_.put(screen_.height - 1, column, key, {view::Tone::kDim}) + 2;
    }
    grid_.put(screen_.height - 1, column, kLastKeys, {view::Tone::kDim});
  }

  // The message may have several lines: a reason, a line, the caret below it.
  void draw_foot() {
    grid_.put(screen_.height - 2, 1,
              view::cut_middle(screen_.position, grid_.width() - 2, look_.charset));
    if (screen_.message.empty()) return draw_keys();
    std::vector<std::string> lines;
    std::istringstream rest(screen_.message);
    for (std::string line; std::getline(rest, line);) lines.push_back(line);
    for (std::size_t i = 1; i < lines.size(); ++i) keep_in_sight(lines[i - 1], lines[i]);
    int row = screen_.height - static_cast<int>(lines.size());
    for (const std::string& line : lines) {
      grid_.put(row, 0, std::string(static_cast<std::size_t>(grid_.width()), ' '));
      grid_.put(row++, 1, line, {view::Tone::kWarning});
    }
  }

  // If the line below it is a caret, both lose so much at their begin that the word above the caret
  // is on the screen.
  void keep_in_sight(std::string& line, std::string& below) const {
    const std::size_t caret = below.find_first_not_of(' ');
    if (caret == below.npos || below.substr(caret) != "^") return;
    constexpr int kWord = 30;
    const int beyond = static_cast<int>(caret) + kWord + 2 - grid_.width();
    if (beyond <= 0 || view::width_of(line, look_.charset) + 2 <= grid_.width()) return;
    const std::string cut = look_.charset == view::Charset::kUtf8 ? "…" : "~";
    line = cut + without_columns(line, beyond + 1);
    below = " " + without_columns(below, beyond + 1);
  }
  std::string without_columns(std::string_view text, int columns) const {
    while (columns > 0 && !text.empty()) {
      char32_t point = 0;
      const std::size_t bytes = std::max<std::size_t>(1, utf8_length(text, point));
      columns -= view::width_of(text.substr(0, bytes), look_.charset);
      text.remove_prefix(bytes);
    }
    const auto blanks = static_cast<std::size_t>(std::max(0, -columns));  // of a wide character
    return std::string(blanks, ' ').append(text);
  }

  view::Grid& grid_;
  const TopModel& model_;
  TopScreen& screen_;
  const view::Colours colours_;
  const view::Look& look_;
};

}  // namespace

void draw_top(view::Grid& grid, const TopModel& model, TopScreen& screen, view::Colours colours,
              const view::Look& look) {
  TopDrawer(grid, model, screen, colours, look).draw();
}

}  // namespace tallyfs
