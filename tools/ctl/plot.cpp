// tallyctl plot: bars of a distribution or a list, a line of a history. Of other types a line over
// the moments of a recording or of a store, or over --count moments of --every. Of several
// statistics one picture after the other.
#include "tools/display/plot.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "tools/ctl/by_label.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/facts.h"
#include "tools/ctl/readings.h"
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
  view::Statistic shown{};  // of the first moment
  bool has_past = false;    // in one moment: bars, or a history
  view::Series series{};    // of what has none: a point for each moment

  bool is_last() const { return shown.type == "last"; }
};

class Plot {
 public:
  Plot(Session& session, const PastOptions& past, std::string by)
      : session_(session), past_(past), by_(std::move(by)) {}

  int run() {
    const int status = draw_all();
    if (status != kDone) return status;
    print_facts(session_, [&](const std::string& interface, const std::string& name) {
      return std::ranges::count(parts_, SelectedStatistic{interface, name}) > 0;
    });
    return kDone;
  }

 private:
  using Form = Session::PastForm;

  // Bars of the past are those of its sum; with --every, and of other types, it has moments. The
  // whole span names the sums of its moments: one may begin after the first of them.
  int draw_all() {
    const bool draws_sum = past_.is_wanted() && session_.options.every.empty();
    const bool is_named_by_span = past_.is_wanted() && by_.is_wanted();
    const bool has_sum = draws_sum || is_named_by_span;
    if (const auto status = open(has_sum ? Form::kSum : Form::kMoments)) return *status;
    if (!has_sum) return draw_moments();
    for (const Plotted& each : pictures_) {
      if (draws_sum && each.has_past) draw(each, nullptr);
    }
    if (draws_sum && std::ranges::count(pictures_, false, &Plotted::has_past) == 0) return kDone;
    const std::vector<SelectedStatistic> parts = parts_;
    if (const auto status = is_named_by_span ? open_named() : open(Form::kMoments)) return *status;
    parts_ = parts;
    if (draws_sum) std::erase_if(pictures_, [](const Plotted& each) { return each.has_past; });
    return draw_moments();
  }

  std::optional<int> open_source(Form form) {
    const bool is_family = by_.is_wanted() && form == Form::kSum;
    const auto opened = session_.open(
        past_, form, is_family ? std::vector<std::string>() : session_.options.words);
    if (opened) return opened;
    begin_ = form == Form::kSum ? view::Begin::kOfOldest : view::Begin::kOfNewest;
    readings_.emplace(*session_.source);
    if (by_.is_wanted()) {
      readings_->change_with(
          [this](view::Interface& each) { by_.add_up(each, selections_, begin_); });
    }
    return std::nullopt;
  }

  std::optional<int> open(Form form) {
    if (const auto status = open_source(form)) return status;
    auto found =
        by_.is_wanted() ? find_sums() : select_each(*session_.source, session_.options.words);
    if (!found) return complain(found.error());
    if (!by_.is_wanted()) parts_ = found.value();
    pictures_.clear();
    for (SelectedStatistic& each : found.value()) {
      if (const auto done = readings_->read(each); !done) return complain(done.error());
      Plotted made{.what = std::move(each)};
      made.shown = *newest_of(made).find(made.what.statistic);
      made.has_past = view::has_bars(made.shown) ||
                      std::holds_alternative<view::History>(made.shown.values);
      if (made.is_last()) made.series.quantity = view::quantity_of_x(made.shown);
      pictures_.push_back(std::move(made));
    }
    is_one_of_several_ = pictures_.size() > 1;
    return std::nullopt;
  }

  // Opens the moments for the pictures that there are.
  std::optional<int> open_named() {
    if (const auto status = open_source(Form::kMoments)) return status;
    for (const Plotted& each : pictures_) {
      if (const auto done = readings_->read(each.what); !done) return complain(done.error());
    }
    return std::nullopt;
  }

  // Sums of what is selected, in place of that.
  Result<std::vector<SelectedStatistic>> find_sums() {
    auto found = by_.select(*session_.source, session_.options.words);
    if (!found) return found.error();
    selections_ = std::move(found).value();
    auto moment = read_interfaces(*session_.source, selections_);
    if (!moment) return moment.error();
    if (auto done = by_.check(moment.value(), selections_); !done) return done.error();
    parts_.clear();
    for (const Selection& each : selections_) {
      const auto at = moment.value().find(each.interface);
      if (at == moment.value().end()) continue;
      for (const auto* part : matching(at->second.interface, each)) {
        parts_.push_back({each.interface, part->name});
      }
    }
    by_.add_up(moment.value(), selections_, begin_);
    if (const std::string text = by_.left_out_text(); !text.empty()) complain(kDone, text);
    std::vector<SelectedStatistic> made;
    for (const auto& [name, each] : moment.value()) {
      for (const view::Statistic& sum : each.interface.statistics) made.push_back({name, sum.name});
    }
    return made;
  }

  const view::Interface& newest_of(const Plotted& picture) const {
    return readings_->now(picture.what).interface;
  }

  bool is_recorded() const { return session_.source->mount().empty(); }
  bool is_repeated() const { return !session_.options.every.empty(); }

  // Draws the end of a recording, or, with --every, each interval. Pictures that need all snapshots
  // follow.
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
      readings_->advance();
      for (Plotted& each : pictures_) {
        if (const auto done = readings_->read(each.what); !done) return complain(done.error());
        const view::Interface& before = readings_->before(each.what);
        if (!each.has_past)
          each.series.points.push_back(point_of(before, each));
        else if (is_repeated())
          draw(each, session_.options.total ? nullptr : &before);
      }
    }
    return std::nullopt;
  }

  void draw(const Plotted& picture, const view::Interface* before) {
    const view::Interface& now = newest_of(picture);
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
      grid.put_line("reset, or redefined, in this interval", {view::Tone::kWarning});
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
        writer, readings_->now(picture.what).json, newest_of(picture),
        [&](const std::string& name) { return name == picture.what.statistic; },
        [&](const std::string&) { return change; });
    print(text.append("\n"));
  }

  // The X of a type=last, else samples a second.
  void draw_series(const Plotted& picture) {
    if (session_.options.json) return print_json(picture, std::nullopt);
    view::Grid grid = session_.grid();
    const view::Interface& interface = newest_of(picture);
    const view::Statistic* const newest = interface.find(picture.what.statistic);
    std::string heading =
        view::heading_of(interface.name, newest ? *newest : picture.shown, interface.time_us);
    grid.put_line(heading.append(picture.is_last() ? "" : ", samples a second"),
                  {view::Tone::kBold});
    view::draw_series(grid, picture.series, kSeriesRows, session_.look);
    print_picture(grid);
  }

  view::Point point_of(const view::Interface& before, const Plotted& picture) const {
    const view::Interface& now = newest_of(picture);
    const std::string& name = picture.what.statistic;
    view::Point made{.realtime_us = now.realtime_us};
    const view::Statistic* const statistic = now.find(name);
    if (picture.is_last() && statistic) made.value = view::level_of_now(*statistic);
    if (!picture.is_last()) made.value = view::change_between(before, now, name).rate();
    return made;
  }

  Session& session_;
  const PastOptions& past_;
  ByLabel by_;
  view::Begin begin_ = view::Begin::kOfNewest;
  std::vector<Selection> selections_;     // of the parts of sums
  std::vector<SelectedStatistic> parts_;  // what is drawn, or added up
  std::optional<Readings> readings_;  // of the source that is open
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
  add_versus(line, past);
  line.add_flag("--total", session.options.total, "with --every: totals, not intervals");
  std::string by;
  add_by(line, by);
  add_table_options(line, session.options);
  line.add_arguments("WHAT", session.options.words, "statistics, interfaces or patterns",
                     {.least = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (!by.empty() && session.options.json) {
    return complain(kWrongUsage, "--by does not go with --json");
  }
  return draw_spans(session, past, [&](Session& each) { return Plot(each, past, by).run(); });
}

}  // namespace tallyfs
