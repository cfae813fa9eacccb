// tallyctl heat: a histogram over time, one line for each interval, so that it scrolls, pipes and
// works over any connection. Of several statistics one picture after the other.
#include "tools/display/heat.h"

#include <algorithm>
#include <vector>

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

constexpr CommandText kHeatText = {
    "heat", "Draws a histogram over time: a line each second, bins from left to right.",
    "  tallyctl heat block-vda/latencies_read                  until it is interrupted\n"
    "  tallyctl heat --every 10s --count 60 'web/latency*'     ten minutes of each\n"
    "  tallyctl heat --last 1h --every 1m web/latency_us       of the past, from a store"};

view::Steps steps_named(const std::string& name) {
  if (name == "sqrt") return view::Steps::kSqrt;
  return name == "linear" ? view::Steps::kLinear : view::Steps::kLog;
}

// One statistic of those that are drawn.
struct HeatPicture {
  SelectedStatistic what;
  view::HeatMap map;
  std::vector<view::Grid> lines{};  // not printed yet
};

class Heat {
 public:
  Heat(Session& session, view::Steps steps) : session_(session), steps_(steps) {}

  int run() {
    const auto found = select_each(*session_.source, session_.options.words);
    if (!found) return complain(found.error());
    std::string unfit;
    for (const SelectedStatistic& each : found.value()) {
      if (const auto done = readings_.read(each); !done) return complain(done.error());
      const view::Interface& interface = readings_.now(each).interface;
      const view::Statistic* const first = interface.find(each.statistic);
      if (view::distribution_of(*first, view::Detail::kFine)) {
        pictures_.push_back(
            {each, {session_.look, session_.terminal.colours, steps_, session_.period()}});
      } else if (unfit.empty()) {
        unfit = view::shown_name(each.interface, each.statistic) + " is a " + first->type +
                "; heat needs an array or quantiles";
      }
    }
    if (pictures_.empty()) return complain(kWrongUsage, unfit);
    return draw_intervals();
  }

 private:
  // With several statistics of a mount, which has no end, each picture has so many lines.
  static constexpr std::uint64_t kLinesOfMount = 10;
  // Lines of moments that were kept, of all pictures together; some 50 MB. Beyond that a picture
  // has another part below.
  static constexpr std::size_t kLinesKept = 10'000;

  int draw_intervals() {
    const bool is_mount = !session_.source->mount().empty();
    for (std::uint64_t n = 0; session_.options.count == 0 || n < session_.options.count; ++n) {
      const auto next = session_.next();
      if (!next) return complain(next.error());
      if (next.value() == Source::Next::kEnd) break;
      readings_.advance();
      for (HeatPicture& each : pictures_) {
        if (const auto done = readings_.read(each.what); !done) return complain(done.error());
        draw(each);
      }
      const bool is_part = is_mount ? (n + 1) % kLinesOfMount == 0 : kept_ >= kLinesKept;
      if (pictures_.size() == 1 || is_part) print_lines();
    }
    print_lines();
    print_facts(session_, [&](const std::string& interface, const std::string& name) {
      const SelectedStatistic what{interface, name};
      return std::ranges::count(pictures_, what, &HeatPicture::what) > 0;
    });
    return kDone;
  }

  // The picture of several statistics begins with its name.
  void print_lines() {
    for (HeatPicture& each : pictures_) {
      if (pictures_.size() > 1 && !each.lines.empty()) {
        view::Grid name = session_.grid();
        name.put_line(view::shown_name(each.what.interface, each.what.statistic),
                      {view::Tone::kBold});
        print(name, session_.terminal);
      }
      for (const view::Grid& line : each.lines) print(line, session_.terminal);
      each.lines.clear();
    }
    kept_ = 0;
  }

  void draw(HeatPicture& picture) {
    const view::Interface& before = readings_.before(picture.what);
    const view::Interface& now = readings_.now(picture.what).interface;
    const std::string& name = picture.what.statistic;
    const auto change = view::change_between(before, now, name);
    if (session_.options.json) return print_json(readings_.now(picture.what), name, change);
    const view::Statistic* const statistic = now.find(name);
    view::Grid grid = session_.grid();
    if (!statistic) {
      grid.put_line(session_.look.moment(now.realtime_us) + "  not observed",
                    {view::Tone::kWarning});
    } else if (view::distribution_of(*statistic, view::Detail::kFine)) {
      picture.map.draw_line(grid, *statistic, change, now.realtime_us, missed(before, now));
    } else {
      grid.put_line("it is a " + statistic->type + " now", {view::Tone::kWarning});
    }
    picture.lines.push_back(std::move(grid));
    ++kept_;
  }

  // Whole intervals between the two that were not seen.
  std::uint64_t missed(const view::Interface& before, const view::Interface& now) const {
    const auto each = static_cast<std::uint64_t>(session_.period().count());
    const std::uint64_t micros = now.time_us > before.time_us ? now.time_us - before.time_us : 0;
    const std::uint64_t intervals = (micros + each / 2) / each;
    return intervals > 1 ? intervals - 1 : 0;
  }

  void print_json(const ReadInterface& now, const std::string& statistic,
                  const view::Change& change) const {
    std::string text;
    JsonWriter writer(text);
    write_interface(
        writer, now.json, now.interface, [&](const std::string& name) { return name == statistic; },
        [&](const std::string&) { return std::optional(change); });
    print(text.append("\n"));
  }

  Session& session_;
  const view::Steps steps_;
  std::vector<HeatPicture> pictures_;
  Readings readings_{*session_.source};
  std::size_t kept_ = 0;  // lines that are not printed yet
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
  add_versus(line, past);
  line.add({.names = "--scale",
            .variable = &scale,
            .value = "STEPS",
            .text = "of counts to colours: log, sqrt or linear",
            .check = OneOf{{"log", "sqrt", "linear"}}});
  line.add_flag("--utc", session.options.utc, "times of day in UTC");
  line.add_flag("--exact", session.options.exact, "all digits");
  line.add_arguments("WHAT", session.options.words,
                     "statistics, interfaces or patterns; of what they name, arrays and "
                     "type=quantiles",
                     {.least = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (!session.options.ascii && !session.options.json) {
    session.terminal = find_terminal(session.options);
    if (const auto status = session.refuse_dumb("heat --ascii draws with letters")) return *status;
  }
  return draw_spans(session, past, [&](Session& each) {
    if (const auto status = each.open(past, Session::PastForm::kMoments, each.options.words)) {
      return *status;
    }
    return Heat(each, steps_named(scale)).run();
  });
}

}  // namespace tallyfs
