// tallyctl heat: a histogram over time, one line for each interval, so that it scrolls, pipes and
// works over any connection.
#include "tools/display/heat.h"

#include "tools/ctl/commands.h"
#include "tools/ctl/facts.h"
#include "tools/ctl/session.h"
#include "tools/ctl/what.h"
#include "tools/display/change.h"
#include "tools/display/summary.h"
#include "tools/tree/view_json.h"

namespace tallyfs {
namespace {

constexpr CommandText kHeatText = {
    "heat", "Draws a histogram over time: a line each second, bins from left to right.",
    "  tallyctl heat block-vda/latencies_read                  until it is interrupted\n"
    "  tallyctl heat --every 10s --count 60 web/latency_us     ten minutes\n"
    "  tallyctl heat --last 1h --every 1m web/latency_us       of the past, from a store"};

view::Steps steps_named(const std::string& name) {
  if (name == "sqrt") return view::Steps::kSqrt;
  return name == "linear" ? view::Steps::kLinear : view::Steps::kLog;
}

class Heat {
 public:
  Heat(Session& session, view::Steps steps)
      : session_(session), map_(session.look, session.terminal.colours, steps) {}

  int run() {
    auto found = select_first(*session_.source, session_.options.words);
    if (!found) return complain(found.error());
    what_ = std::move(found).value();
    auto before = read();
    if (!before) return complain(before.error());
    const view::Statistic* const first = before.value().find(what_.statistic);
    if (!view::distribution_of(*first, view::Detail::kFine)) {
      return complain(kWrongUsage, what_.interface + "/" + what_.statistic + " is a " +
                                       first->type + "; heat needs an array or quantiles");
    }
    return draw_intervals(std::move(before).value());
  }

 private:
  int draw_intervals(view::Interface before) {
    for (std::uint64_t n = 0; session_.options.count == 0 || n < session_.options.count; ++n) {
      const auto next = session_.next();
      if (!next) return complain(next.error());
      if (next.value() == Source::Next::kEnd) break;
      auto now = read();
      if (!now) return complain(now.error());
      draw(before, now.value());
      before = std::move(now).value();
    }
    print_facts(session_, [&](const std::string& interface, const std::string& name) {
      return interface == what_.interface && name == what_.statistic;
    });
    return kDone;
  }

  Result<view::Interface> read() { return read_selected(*session_.source, what_, json_); }

  void draw(const view::Interface& before, const view::Interface& now) {
    const auto change = view::change_between(before, now, what_.statistic);
    if (session_.options.json) return print_json(now, change);
    const view::Statistic* const statistic = now.find(what_.statistic);
    view::Grid grid = session_.grid();
    if (!statistic) {
      grid.put_line(session_.look.moment(now.realtime_us) + "  not observed",
                    {view::Tone::kWarning});
    } else if (view::distribution_of(*statistic, view::Detail::kFine)) {
      map_.draw_line(grid, *statistic, change, now.realtime_us, missed(before, now));
    } else {
      grid.put_line("it is a " + statistic->type + " now", {view::Tone::kWarning});
    }
    print(grid, session_.terminal);
  }

  // Whole intervals between the two that were not seen.
  std::uint64_t missed(const view::Interface& before, const view::Interface& now) const {
    const auto each = static_cast<std::uint64_t>(session_.period().count());
    const std::uint64_t micros = now.time_us > before.time_us ? now.time_us - before.time_us : 0;
    const std::uint64_t intervals = (micros + each / 2) / each;
    return intervals > 1 ? intervals - 1 : 0;
  }

  void print_json(const view::Interface& now, const view::Change& change) const {
    std::string text;
    JsonWriter writer(text);
    write_interface(
        writer, json_, now, [&](const std::string& name) { return name == what_.statistic; },
        [&](const std::string&) { return std::optional(change); });
    print(text.append("\n"));
  }

  Session& session_;
  SelectedStatistic what_;
  Json json_;  // of the newest read()
  view::HeatMap map_;
};

}  // namespace

int run_heat(int argc, char** argv) {
  Session session;
  std::string scale = "log";
  CommandLine line = command_line(kHeatText, session.options);
  add_from(line, session.options);
  add_every(line, session.options);
  PastOptions past;
  add_past(line, past);
  line.add({.names = "--scale",
            .variable = &scale,
            .value = "STEPS",
            .text = "of counts to colours: log, sqrt or linear",
            .check = OneOf{{"log", "sqrt", "linear"}}});
  line.add_flag("--utc", session.options.utc, "times of day in UTC");
  line.add_flag("--exact", session.options.exact, "all digits");
  line.add_arguments("WHAT", session.options.words, "one array, or one type=quantiles",
                     {.least = 1, .most = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open(past, Session::PastForm::kMoments,
                                       session.options.words.front())) {
    return *status;
  }
  if (!session.options.ascii && !session.options.json) {
    if (const auto status = session.refuse_dumb("heat --ascii draws with letters")) return *status;
  }
  return Heat(session, steps_named(scale)).run();
}

}  // namespace tallyfs
