// tallyctl show: tables of anything. Of an interface, and of what a pattern matches, a row for each
// statistic; of a statistic all that it has. With --every what was counted in each interval.
#include "tools/display/show.h"

#include <algorithm>

#include "core/base/nearest.h"
#include "tools/ctl/changed.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/moment.h"
#include "tools/ctl/session.h"
#include "tools/ctl/show_past.h"
#include "tools/ctl/what.h"
#include "tools/display/change.h"
#include "tools/display/summary.h"
#include "tools/tree/statistics_json.h"
#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

constexpr CommandText kShowText = {
    "show", "Shows statistics as tables, with percentiles and rates.",
    "  tallyctl show block-vda/latencies_read           one with all it has\n"
    "  tallyctl show --every 1s 'block-*/latencies_*'   what each second brought\n"
    "  tallyctl show --last 5m --vs before web          beside the five minutes before"};

class Show {
 public:
  // is_named: the command was, and is not the one without a command.
  Show(Session& session, bool is_named) : session_(session), is_named_(is_named) {}

  int run() {
    std::vector<std::string> words;
    for (const std::string& word : session_.options.words) {
      const std::string path = path_of(word, session_.source->mount());
      if (path.empty())
        words.push_back(word);
      else if (const int status = show_path(path); status != kDone)
        return status;
    }
    if (words.empty() && !session_.options.words.empty()) return kDone;
    if (const int status = find(words); status != kDone) return status;
    return session_.options.every.empty() ? show_once() : show_again_and_again();
  }

 private:
  int find(const std::vector<std::string>& words) {
    if (session_.options.every.empty()) {
      if (const auto status = session_.go_to_end()) return *status;
    }
    auto found = select(*session_.source, words);
    if (!found) return explain(found.error());
    selections_ = std::move(found).value();
    name_single_match(selections_);
    return kDone;
  }

  // A word may be a command that was misspelt: without a command it is show.
  int explain(const Error& error) const {
    if (error.code != ErrorCode::kInvalid || is_named_) return complain(error);
    std::vector<std::string> known;
    for (const Command& each : commands()) known.emplace_back(each.name);
    const auto meant = nearest(session_.options.words.front(), known);
    return complain(kRefused, error.reason + (meant ? "; there is a command " + *meant
                                                    : "; tallyctl help lists the commands"));
  }

  int show_once() {
    const auto now = read();
    if (!now) return complain(now.error());
    draw(now.value(), nullptr);
    return kDone;
  }

  int show_again_and_again() {
    auto before = read();
    if (!before) return complain(before.error());
    for (std::uint64_t n = 0; session_.options.count == 0 || n < session_.options.count; ++n) {
      const auto next = session_.next();
      if (!next) return complain(next.error());
      if (next.value() == Source::Next::kEnd) break;
      auto now = read();
      if (!now) return complain(now.error());
      draw(now.value(), session_.options.total ? nullptr : &before.value());
      before = std::move(now);
    }
    return kDone;
  }

  Result<Moment> read() { return read_moment(*session_.source, selections_); }

  void draw(const Moment& now, const Moment* before) const {
    if (session_.options.json) return print_json(now, before);
    view::Grid grid = session_.grid();
    std::vector<view::StatisticRow> rows;
    for (const Selection& selection : selections_) {
      const auto found = now.find(selection.interface);
      if (found == now.end()) continue;
      const view::Interface& interface = found->second.interface;
      for (const view::Statistic* each : selected(interface, selection)) {
        const auto change = change_of(before, interface, each->name);
        if (selection.is_whole || selection.is_pattern)
          rows.push_back({&interface, each, change});
        else
          draw_one(grid, interface, *each, change);
      }
    }
    if (!rows.empty()) view::draw_rows(grid, rows, session_.look);
    if (before) grid.put_line("");
    print(grid, session_.terminal);
  }

  void draw_one(view::Grid& grid, const view::Interface& interface,
                const view::Statistic& statistic, const std::optional<view::Change>& change) const {
    if (grid.height() > 0) grid.put_line("");
    if (!change) return view::draw_statistic(grid, interface, statistic, session_.look);
    if (change->counted) {
      return view::draw_statistic(grid, interface, *change->counted, session_.look);
    }
    const std::string name = view::shown_name(interface.name, statistic.name);
    grid.put_line(name + "  -  reset, defined anew or removed in this interval",
                  {view::Tone::kWarning});
  }

  static std::optional<view::Change> change_of(const Moment* before, const view::Interface& now,
                                               const std::string& statistic) {
    if (!before) return std::nullopt;
    const auto found = before->find(now.name);
    if (found == before->end()) return view::Change{};
    return view::change_between(found->second.interface, now, statistic);
  }

  void print_json(const Moment& now, const Moment* before) const {
    std::string text;
    JsonWriter writer(text);
    writer.begin_object().key("tallyctl").string(TALLYFS_VERSION);
    writer.key("interfaces").begin_array();
    write_moment(writer, now, selections_,
                 [&](const view::Interface& interface, const std::string& name) {
                   return change_of(before, interface, name);
                 });
    writer.end_array().end_object();
    print(text.append("\n"));
  }

  // What is not of statistics/: latency histograms as a statistic, all else as its file shows it.
  int show_path(const std::string& path) {
    const auto json = session_.source->interface(path);
    if (!json && json.error().code == ErrorCode::kNotFound) return show_text(path);
    if (!json) return complain(json.error());
    const auto interface = to_interface(json.value());
    if (!interface) return complain(interface.error());
    view::Grid grid = session_.grid();
    for (const view::Statistic& each : interface.value().statistics) {
      view::draw_statistic(grid, interface.value(), each, session_.look);
    }
    print(grid, session_.terminal);
    return kDone;
  }

  int show_text(const std::string& path) {
    const std::string& mount = session_.source->mount();
    auto text = read_in_time(mount + "/" + path);
    const std::string reason = text ? "" : text.error().reason;
    for (const char* file : {"/hist", "/data"}) {
      if (!text) text = read_in_time(mount + "/" + path + file);
    }
    // With --subtree tracing the mount is that directory.
    if (!text) text = read_in_time(mount + path.substr(path.find('/')));
    if (text) {
      print(text.value());
      return kDone;
    }
    return list_directory(path) ? kDone : complain(kRefused, reason);
  }

  // Paths that `show` takes, one a line. False: it is no directory.
  bool list_directory(const std::string& path) {
    const auto names = list_in_time(session_.source->mount() + "/" + path);
    if (!names) return false;
    std::string text;
    for (const std::string& name : names.value()) {
      // The same as its neighbour without .json.
      if (!name.ends_with(".json")) text.append(path).append("/").append(name).append("\n");
    }
    print(text);
    return true;
  }

  Session& session_;
  const bool is_named_;
  std::vector<Selection> selections_;
};

}  // namespace

int run_show(int argc, char** argv) {
  Session session;
  bool changed = false;
  CommandLine line = command_line(kShowText, session.options);
  add_from(line, session.options);
  add_every(line, session.options);
  line.add_flag("--total", session.options.total, "with --every: totals, not intervals");
  line.add_flag("--changed", changed,
                "what behaves most unlike before; a SPAN as 5m, before WHAT, else 60s, is "
                "compared with the nine before it",
                "--every");
  PastOptions past;
  add_past(line, past);
  add_table_options(line, session.options);
  line.add_arguments("WHAT", session.options.words,
                     "interfaces, statistics, or patterns; a path in the mount");
  if (const auto status = line.parse(argc, argv)) return *status;
  if (past.is_wanted()) {
    if (changed || !session.options.every.empty() || !session.options.from.empty()) {
      return complain(kWrongUsage,
                      "--at, --last and --vs are of a store; --changed, --every and "
                      "--from are not");
    }
    return show_past(session, past);
  }
  if (const auto status = session.open()) return *status;
  if (changed) return show_changed(session);
  return Show(session, std::string_view(argv[0]) == "show").run();
}

}  // namespace tallyfs
