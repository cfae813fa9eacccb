// tallyctl plot: bars of a distribution or a list, a line of a history. Of other types a line over
// the moments of a recording or of a store, or over --count moments of --every. Of several
// statistics one picture after the other.
#include "tools/display/plot.h"

#include <algorithm>
#include <vector>

#include "tools/ctl/commands.h"
#include "tools/ctl/facts.h"
#include "tools/ctl/session.h"
#include "tools/ctl/what.h"
#include "tools/display/change.h"
#include "tools/display/summary.h"
#include "tools/tree/view_json.h"

namespace tallyfs {
namespace {

constexpr CommandText kPlotText = {
    "plot", "Draws a statistic: bars of a distribution or a list, a line of a history.",
    "  tallyctl plot 'block-*/latencies_read'           bars of each\n"
    "  tallyctl plot web/by_second                      a line, of a type=history\n"
    "  tallyctl plot web/hits --last 1h                 a line of the past, from a store"};
constexpr int kSeriesRows = 10;

// One statistic of those that are drawn.
struct Plotted {
  SelectedStatistic what;
  view::Interface newest;   // of its newest moment
  Json json{};              // the same
  view::Statistic shown{};  // of the first moment
  bool has_past = false;    // in one moment: bars, or a history
  view::Series series{};    // of what has none: a point for each moment

  bool is_last() const { return shown.type == "last"; }
};

class Plot {
 public:
  Plot(Session& session, const PastOptions& past) : session_(session), past_(past) {}

  int run() {
    const int status = draw_all();
    if (status != kDone) return status;
    print_facts(session_, [&](const std::string& interface, const std::string& name) {
      return std::ranges::count(pictures_, SelectedStatistic{interface, name}, &Plotted::what) > 0;
    });
    return kDone;
  }

 private:
  using Form = Session::PastForm;

  // Bars of the past are those of its sum; with --every, and of other types, it has moments.
  int draw_all() {
    const bool may_be_sum = past_.is_wanted() && session_.options.every.empty();
    if (const auto status = open(may_be_sum ? Form::kSum : Form::kMoments)) return *status;
    if (!may_be_sum) return draw_moments();
    const std::vector<Plotted> of_sum = std::move(pictures_);
    for (const Plotted& each : of_sum) {
      if (each.has_past) draw(each, nullptr);
    }
    if (std::ranges::count(of_sum, false, &Plotted::has_past) == 0) {
      pictures_ = of_sum;  // for their facts
      return kDone;
    }
    if (const auto status = open(Form::kMoments)) return *status;
    std::erase_if(pictures_, [](const Plotted& each) { return each.has_past; });
    const int status = draw_moments();
    pictures_ = of_sum;
    return status;
  }

  std::optional<int> open(Form form) {
    const auto& words = session_.options.words;
    if (const auto status = session_.open(past_, form, words)) return status;
    auto found = select_each(*session_.source, words);
    if (!found) return complain(found.error());
    pictures_.clear();
    for (SelectedStatistic& each : found.value()) {
      Plotted made{.what = std::move(each), .newest = {}};
      if (const auto done = read(made); !done) return complain(done.error());
      made.shown = *made.newest.find(made.what.statistic);
      made.has_past = view::has_bars(made.shown) ||
                      std::holds_alternative<view::History>(made.shown.values);
      if (made.is_last()) made.series.quantity = view::quantity_of_x(made.shown);
      pictures_.push_back(std::move(made));
    }
    is_one_of_several_ = pictures_.size() > 1;
    return std::nullopt;
  }

  Result<void> read(Plotted& picture) {
    auto now = read_selected(*session_.source, picture.what, picture.json);
    if (!now) return now.error();
    picture.newest = std::move(now).value();
    return {};
  }

  bool is_recorded() const { return session_.source->mount().empty(); }
  bool is_repeated() const { return !session_.options.every.empty(); }

  // Of a recording the end; with --every each interval's. Then those that need all moments.
  int draw_moments() {
    const bool has_end = is_recorded() || (is_repeated() && session_.options.count != 0);
    if (!has_end) {
      if (const auto status = drop_without_past()) return *status;
    }
    if (is_recorded() || is_repeated()) {
      if (const auto status = go_through()) return *status;
    }
    for (const Plotted& each : pictures_) {
      if (!each.has_past)
        draw_series(each);
      else if (!is_repeated())
        draw(each, nullptr);
    }
    return kDone;
  }

  std::optional<int> drop_without_past() {
    const auto first = std::ranges::find(pictures_, false, &Plotted::has_past);
    if (first == pictures_.end()) return std::nullopt;
    const std::string name = view::shown_name(first->what.interface, first->what.statistic);
    std::erase_if(pictures_, [](const Plotted& each) { return !each.has_past; });
    if (!pictures_.empty()) return std::nullopt;
    return complain(kWrongUsage,
                    name + " keeps no past: draw it with --every 1s --count 60, from a store "
                           "(--last 1h) or a recording (--from), or define a view with "
                           "type=history");
  }

  std::optional<int> go_through() {
    for (std::uint64_t n = 0; session_.options.count == 0 || n < session_.options.count; ++n) {
      const auto next = session_.next();
      if (!next) return complain(next.error());
      if (next.value() == Source::Next::kEnd) break;
      for (Plotted& each : pictures_) {
        const view::Interface before = std::move(each.newest);
        if (const auto done = read(each); !done) return complain(done.error());
        if (!each.has_past)
          each.series.points.push_back(point_of(before, each));
        else if (is_repeated())
          draw(each, session_.options.total ? nullptr : &before);
      }
    }
    return std::nullopt;
  }

  void draw(const Plotted& picture, const view::Interface* before) {
    const view::Interface& now = picture.newest;
    const std::string& name = picture.what.statistic;
    std::optional<view::Change> change;
    if (before) change = view::change_between(*before, now, name);
    if (session_.options.json) return print_json(picture, change);
    view::Grid grid = session_.grid();
    if (!now.find(name)) return draw_unknown(grid, now);
    const view::Statistic& total = *now.find(name);
    const view::Statistic& shown = change && change->counted ? *change->counted : total;
    grid.put_line(view::heading_of(now.name, shown, now.time_us), {view::Tone::kBold});
    if (change && !change->counted) {
      grid.put_line("reset, or defined anew, in this interval", {view::Tone::kWarning});
    } else if (const auto series = view::series_of(now, shown)) {
      view::draw_series(grid, *series, kSeriesRows, session_.look);
    } else {
      draw_bars(grid, shown);
    }
    print_picture(grid);
  }

  void draw_unknown(view::Grid& grid, const view::Interface& now) {
    grid.put_line(session_.look.moment(now.realtime_us) + "  not observed",
                  {view::Tone::kWarning});
    print_picture(grid);
  }

  // Several are apart.
  void print_picture(const view::Grid& grid) {
    if (is_one_of_several_ && has_printed_) print("\n");
    has_printed_ = true;
    print(grid, session_.terminal);
  }

  void draw_bars(view::Grid& grid, const view::Statistic& shown) const {
    for (const auto& text : {view::percentiles_text(shown, session_.look),
                             view::left_out_text(shown, session_.look)}) {
      if (!text.empty()) grid.put_line(text);
    }
    view::draw_bars(grid, shown, session_.look);
  }

  void print_json(const Plotted& picture, const std::optional<view::Change>& change) const {
    std::string text;
    JsonWriter writer(text);
    write_interface(
        writer, picture.json, picture.newest,
        [&](const std::string& name) { return name == picture.what.statistic; },
        [&](const std::string&) { return change; });
    print(text.append("\n"));
  }

  // The X of a type=last, else samples a second.
  void draw_series(const Plotted& picture) {
    if (session_.options.json) return print_json(picture, std::nullopt);
    view::Grid grid = session_.grid();
    const view::Statistic* const newest = picture.newest.find(picture.what.statistic);
    std::string heading = view::heading_of(picture.newest.name, newest ? *newest : picture.shown,
                                           picture.newest.time_us);
    grid.put_line(heading.append(picture.is_last() ? "" : ", samples a second"),
                  {view::Tone::kBold});
    view::draw_series(grid, picture.series, kSeriesRows, session_.look);
    print_picture(grid);
  }

  static view::Point point_of(const view::Interface& before, const Plotted& picture) {
    const view::Interface& now = picture.newest;
    const std::string& name = picture.what.statistic;
    view::Point made{.realtime_us = now.realtime_us};
    const view::Statistic* const statistic = now.find(name);
    if (picture.is_last() && statistic) made.value = view::level_of_now(*statistic);
    if (!picture.is_last()) made.value = view::change_between(before, now, name).rate();
    return made;
  }

  Session& session_;
  const PastOptions& past_;
  std::vector<Plotted> pictures_;
  bool is_one_of_several_ = false;
  bool has_printed_ = false;
};

}  // namespace

int run_plot(int argc, char** argv) {
  Session session;
  CommandLine line = command_line(kPlotText, session.options);
  add_from(line, session.options);
  add_every(line, session.options);
  PastOptions past;
  add_past(line, past);
  line.add_flag("--total", session.options.total, "with --every: totals, not intervals");
  add_table_options(line, session.options);
  line.add_arguments("WHAT", session.options.words, "statistics, interfaces or patterns",
                     {.least = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  return Plot(session, past).run();
}

}  // namespace tallyfs
