// tallyctl show: tables of anything. Of an interface, and of what a pattern matches, a row for each
// statistic; of a statistic all that it has. With --every what was counted in each interval.
#include "tools/display/show.h"

#include <algorithm>

#include "core/base/nearest.h"
#include "tools/ctl/by_label.h"
#include "tools/ctl/changed.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/read_interfaces.h"
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
    "  tallyctl show --sort p99 --top 5                 what is slowest\n"
    "  tallyctl show --last 5m --vs before web          and the five minutes before"};

class Show {
 public:
  // is_named: the command was, and is not the one without a command.
  Show(Session& session, bool is_named, std::string by)
      : session_(session), is_named_(is_named), by_(std::move(by)) {}

  int run() {
    std::vector<std::string> words;
    for (const std::string& word : session_.options.words) {
      const std::string path = path_in(*session_.source, word);
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
    auto found = by_.select(*session_.source, words);
    if (!found) return explain(found.error());
    selections_ = std::move(found).value();
    if (!by_.is_wanted()) {
      name_single_match(selections_);
      return kDone;
    }
    const auto now = read_interfaces(*session_.source, selections_);
    if (!now) return complain(now.error());
    const auto checked = by_.check(now.value(), selections_);
    return checked ? kDone : complain(checked.error());
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

  Result<ReadInterfaces> read() {
    auto moment = read_interfaces(*session_.source, selections_);
    if (moment && by_.is_wanted()) by_.add_up(moment.value(), selections_, view::Begin::kOfNewest);
    return moment;
  }

  void draw(const ReadInterfaces& now, const ReadInterfaces* before) const {
    if (session_.options.json && !session_.options.exports_rows()) return print_json(now, before);
    view::Grid grid = session_.grid();
    std::vector<view::StatisticRow> rows =
        by_.is_wanted() ? rows_of_sums(now, before) : std::vector<view::StatisticRow>();
    for (const Selection& selection : by_.is_wanted() ? std::vector<Selection>() : selections_) {
      const auto found = now.find(selection.interface);
      if (found == now.end()) continue;
      const view::Interface& interface = found->second.interface;
      for (const view::Statistic* each : selected(interface, selection)) {
        if (selection.is_whole || selection.is_pattern || session_.options.chooses_rows())
          rows.push_back({&interface, each, change_of(before, interface, each->name)});
        else
          draw_one(grid, interface, *each, before);
      }
    }
    session_.put_rows(grid, std::move(rows));
    if (session_.options.exports_rows()) return;
    const std::string left_out = by_.left_out_text();
    if (!left_out.empty()) grid.put_line(left_out, {view::Tone::kWarning});
    if (before) grid.put_line("");
    print(grid, session_.terminal);
  }

  static std::vector<view::StatisticRow> rows_of_sums(const ReadInterfaces& now,
                                                      const ReadInterfaces* before) {
    std::vector<view::StatisticRow> rows;
    for (const auto& [name, each] : now) {
      for (std::size_t i = 0; i < each.interface.statistics.size(); ++i) {
        const view::Statistic& sum = each.interface.statistics[i];
        auto change = change_of(before, each.interface, sum.name);
        if (change && has_lost_part(*before, each, i)) change = view::Change{};
        rows.push_back({&each.interface, &sum, std::move(change)});
      }
    }
    return rows;
  }

  static bool has_lost_part(const ReadInterfaces& before, const ReadInterface& now,
                            std::size_t sum) {
    const auto found = before.find(now.interface.name);
    if (found == before.end()) return false;
    const auto& sums = found->second.interface.statistics;
    const auto was =
        std::ranges::find(sums, now.interface.statistics[sum].name, &view::Statistic::name);
    if (was == sums.end()) return false;
    const auto& parts = found->second.parts[static_cast<std::size_t>(was - sums.begin())];
    return view::has_lost_part(parts, now.parts[sum]);
  }

  void draw_one(view::Grid& grid, const view::Interface& interface,
                const view::Statistic& statistic, const ReadInterfaces* before) const {
    if (grid.height() > 0) grid.put_line("");
    auto change = change_of(before, interface, statistic.name);
    if (!change) return view::draw_statistic(grid, interface, statistic, session_.look);
    if (auto& counted = change->counted) {
      const auto* const was = before->at(interface.name).interface.find(statistic.name);
      counted->values = view::entries_since(was->values, counted->values);
      return view::draw_statistic(grid, interface, *counted, session_.look);
    }
    const std::string name = view::shown_name(interface.name, statistic.name);
    grid.put_line(name + "  -  reset, redefined or removed in this interval",
                  {view::Tone::kWarning});
  }

  static std::optional<view::Change> change_of(const ReadInterfaces* before,
                                               const view::Interface& now,
                                               const std::string& statistic) {
    if (!before) return std::nullopt;
    const auto found = before->find(now.name);
    if (found == before->end()) return view::Change{};
    return view::change_between(found->second.interface, now, statistic);
  }

  void print_json(const ReadInterfaces& now, const ReadInterfaces* before) const {
    std::string text;
    JsonWriter writer(text);
    writer.begin_object().key("tallyctl").string(TALLYFS_VERSION);
    writer.key("interfaces").begin_array();
    write_interfaces(writer, now, selections_,
                     [&](const view::Interface& interface, const std::string& name) {
                       return change_of(before, interface, name);
                     });
    writer.end_array().end_object();
    print(text.append("\n"));
  }

  // Shows a path outside of statistics/: a latency histogram as a statistic, any other file as its
  // text.
  int show_path(const std::string& path) {
    const auto json = session_.source->interface(path);
    if (!json && json.error().code == ErrorCode::kNotFound) return show_text(path);
    if (!json) return complain(json.error());
    const auto interface = to_interface(json.value());
    if (!interface) return complain(interface.error());
    view::Grid grid = session_.grid();
    if (session_.options.chooses_rows()) {
      std::vector<view::StatisticRow> rows;
      for (const view::Statistic& each : interface.value().statistics) {
        rows.push_back({&interface.value(), &each, std::nullopt});
      }
      session_.put_rows(grid, std::move(rows));
      print(grid, session_.terminal);
      return kDone;
    }
    for (const view::Statistic& each : interface.value().statistics) {
      view::draw_statistic(grid, interface.value(), each, session_.look);
    }
    print(grid, session_.terminal);
    return kDone;
  }

  int show_text(const std::string& path) {
    if (session_.options.chooses_rows()) {
      return complain(kWrongUsage, path + " has no rows to sort or export");
    }
    const std::string& mount = session_.source->mount();
    auto text = read_in_time(mount + "/" + path);
    const std::string reason = text ? "" : text.error().reason;
    for (const char* file : {"/hist", "/data"}) {
      if (!text) text = read_in_time(mount + "/" + path + file);
    }
    // With --subtree tracing the mount is that directory.
    const std::size_t slash = path.find('/');
    if (!text && slash != path.npos) text = read_in_time(mount + path.substr(slash));
    if (text) {
      print(text.value());
      return kDone;
    }
    return list_directory(path) ? kDone : complain(kRefused, reason);
  }

  // Paths that `show` takes, one a line. False: it is no directory.
  bool list_directory(const std::string& path) {
    const auto paths = paths_below(*session_.source, path);
    if (!paths) return false;
    for (const std::string& each : paths.value()) print(each + "\n");
    return true;
  }

  Session& session_;
  const bool is_named_;
  ByLabel by_;
  std::vector<Selection> selections_;
};

// Options that do not go together; empty: they do.
std::string fault_of(const Options& options, const PastOptions& past, const std::string& by,
                     bool changed) {
  if (!by.empty() && (changed || options.json)) {
    return "--by goes with neither --changed nor --json";
  }
  const bool is_of_changed =
      options.sort.empty() || options.sort == "change" || options.sort == "name";
  if (changed && (!is_of_changed || options.nonzero || options.csv || options.tsv)) {
    return "--changed goes with --sort change or name and --top, not with --nonzero, --csv, --tsv";
  }
  if (past.versus.empty() && !changed && !fault_of_sorting(options).empty()) {
    return fault_of_sorting(options);
  }
  if (!past.store.empty() && !past.is_wanted()) {
    return "--store needs the time that is meant: --last 10m, or --at 12:03";
  }
  if (!past.is_wanted()) return "";
  const bool is_of_store = options.every.empty() && options.from.empty();
  return is_of_store ? "" : "--at, --last and --vs are of a store; --every and --from are not";
}

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
  std::string by;
  add_by(line, by);
  PastOptions past;
  add_past(line, past);
  add_versus(line, past);
  add_rows(line, session.options);
  add_table_options(line, session.options);
  line.add_arguments("WHAT", session.options.words,
                     "interfaces, statistics, or patterns; a path in the mount");
  if (const auto status = line.parse(argc, argv)) return *status;
  const std::string fault = fault_of(session.options, past, by, changed);
  if (!fault.empty()) return complain(kWrongUsage, fault);
  if (past.is_wanted()) {
    return changed ? show_changed(session, past) : show_past(session, past, by);
  }
  if (const auto status = session.open()) return *status;
  if (changed) return show_changed(session);
  return Show(session, std::string_view(argv[0]) == "show", by).run();
}

}  // namespace tallyfs
