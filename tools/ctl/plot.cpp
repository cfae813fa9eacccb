// tallyctl plot: bars of a distribution or a list, a line of a history. Of other types a line over
// the moments of a recording or of a store, or over --count moments of --every.
#include "tools/display/plot.h"

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
    "  tallyctl plot block-vda/latencies_read           bars\n"
    "  tallyctl plot web/by_second                      a line, of a type=history\n"
    "  tallyctl plot web/hits --last 1h                 a line of the past, from a store"};
constexpr int kSeriesRows = 10;

class Plot {
 public:
  Plot(Session& session, const PastOptions& past) : session_(session), past_(past) {}

  // Bars of the past are those of its sum; with --every, and of other types, it has moments.
  int run() {
    const bool may_be_sum = past_.is_wanted() && session_.options.every.empty();
    if (const auto status = open(may_be_sum ? Form::kSum : Form::kMoments)) return *status;
    if (has_past(*first_.find(what_.statistic))) return with_facts(draw_now());
    if (may_be_sum) {
      if (const auto status = open(Form::kMoments)) return *status;
    }
    return with_facts(draw_moments(std::move(first_)));
  }

 private:
  using Form = Session::PastForm;

  int with_facts(int status) const {
    print_facts(session_, [&](const std::string& interface, const std::string& name) {
      return interface == what_.interface && name == what_.statistic;
    });
    return status;
  }

  std::optional<int> open(Form form) {
    const auto& words = session_.options.words;
    if (const auto status = session_.open(past_, form, words.front())) return status;
    auto found = select_first(*session_.source, words);
    if (!found) return complain(found.error());
    what_ = std::move(found).value();
    auto now = read();
    if (!now) return complain(now.error());
    first_ = std::move(now).value();
    return std::nullopt;
  }

  static bool has_past(const view::Statistic& statistic) {
    return view::has_bars(statistic) || std::holds_alternative<view::History>(statistic.values);
  }

  Result<view::Interface> read() { return read_selected(*session_.source, what_, json_); }

  // Of a recording the end; with --every of a mount each interval's.
  int draw_now() {
    const bool is_recorded = session_.source->mount().empty();
    const bool is_repeated = !session_.options.every.empty();
    Result<view::Interface> before = std::move(first_);
    if (!is_recorded && !is_repeated) return draw(before.value(), nullptr);
    std::uint64_t drawn = 0;
    while (session_.options.count == 0 || drawn < session_.options.count) {
      const auto next = session_.next();
      if (!next) return complain(next.error());
      if (next.value() == Source::Next::kEnd) break;
      auto now = read();
      if (!now) return complain(now.error());
      const bool is_total = session_.options.total;
      if (is_repeated) draw(now.value(), is_total ? nullptr : &before.value());
      before = std::move(now);
      ++drawn;
    }
    return is_repeated ? kDone : draw(before.value(), nullptr);
  }

  int draw(const view::Interface& now, const view::Interface* before) {
    std::optional<view::Change> change;
    if (before) change = view::change_between(*before, now, what_.statistic);
    if (session_.options.json) return print_json(now, change);
    view::Grid grid = session_.grid();
    if (!now.find(what_.statistic)) return draw_unknown(grid, now);
    const view::Statistic& total = *now.find(what_.statistic);
    const view::Statistic& shown = change && change->counted ? *change->counted : total;
    grid.put_line(view::heading_of(now.name, shown, now.time_us), {view::Tone::kBold});
    if (change && !change->counted) {
      grid.put_line("reset, or defined anew, in this interval", {view::Tone::kWarning});
    } else if (const auto series = view::series_of(now, shown)) {
      view::draw_series(grid, *series, kSeriesRows, session_.look);
    } else {
      draw_bars(grid, shown);
    }
    print(grid, session_.terminal);
    return kDone;
  }

  int draw_unknown(view::Grid& grid, const view::Interface& now) {
    grid.put_line(session_.look.moment(now.realtime_us) + "  not observed",
                  {view::Tone::kWarning});
    print(grid, session_.terminal);
    return kDone;
  }

  void draw_bars(view::Grid& grid, const view::Statistic& shown) const {
    for (const auto& text : {view::percentiles_text(shown, session_.look),
                             view::left_out_text(shown, session_.look)}) {
      if (!text.empty()) grid.put_line(text);
    }
    view::draw_bars(grid, shown, session_.look);
  }

  int print_json(const view::Interface& now, const std::optional<view::Change>& change) const {
    std::string text;
    JsonWriter writer(text);
    write_interface(
        writer, json_, now, [&](const std::string& name) { return name == what_.statistic; },
        [&](const std::string&) { return change; });
    print(text.append("\n"));
    return kDone;
  }

  // A point for each moment: the X of a type=last, else samples a second.
  int draw_moments(view::Interface before) {
    const bool is_recorded = session_.source->mount().empty();
    if (!is_recorded && (session_.options.every.empty() || session_.options.count == 0)) {
      return complain(kWrongUsage,
                      what_.interface + "/" + what_.statistic +
                          " keeps no past: draw it with --every 1s --count 60, from a store "
                          "(--last 1h) or a recording (--from), or define a view with "
                          "type=history");
    }
    view::Series series;
    const view::Statistic shown = *before.find(what_.statistic);
    const bool is_last = shown.type == "last";
    if (is_last) series.quantity = view::quantity_of_x(shown);
    while (session_.options.count == 0 || series.points.size() < session_.options.count) {
      const auto next = session_.next();
      if (!next) return complain(next.error());
      if (next.value() == Source::Next::kEnd) break;
      auto now = read();
      if (!now) return complain(now.error());
      series.points.push_back(point_of(before, now.value(), is_last));
      before = std::move(now).value();
    }
    if (session_.options.json) return print_json(before, std::nullopt);
    view::Grid grid = session_.grid();
    const view::Statistic* const newest = before.find(what_.statistic);
    std::string heading =
        view::heading_of(before.name, newest ? *newest : shown, before.time_us);
    grid.put_line(heading.append(is_last ? "" : ", samples a second"), {view::Tone::kBold});
    view::draw_series(grid, series, kSeriesRows, session_.look);
    print(grid, session_.terminal);
    return kDone;
  }

  view::Point point_of(const view::Interface& before, const view::Interface& now,
                       bool is_last) const {
    view::Point made{.realtime_us = now.realtime_us};
    const view::Statistic* const statistic = now.find(what_.statistic);
    if (is_last && statistic) made.value = view::level_of_now(*statistic);
    if (!is_last) made.value = view::change_between(before, now, what_.statistic).rate();
    return made;
  }

  Session& session_;
  const PastOptions& past_;
  SelectedStatistic what_;
  view::Interface first_;  // of the first moment
  Json json_;  // of the newest read()
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
  line.add_arguments("WHAT", session.options.words, "one statistic", {.least = 1, .most = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  return Plot(session, past).run();
}

}  // namespace tallyfs
