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
#include "tools/display/sum.h"
#include "tools/display/summary.h"
#include "tools/tree/statistics_json.h"
#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

constexpr CommandText kShowText = {
    "show", "Shows statistics as tables, with percentiles and rates.",
    "  tallyctl show block-vda/latencies_read           one with all it has\n"
    "  tallyctl show --sort p99 --top 5                 what is slowest\n"
    "  tallyctl show --last 5m --vs before web          beside the five minutes before"};

class Show {
 public:
  // is_named: the command was, and is not the one without a command. by: the label over whose
  // values families are added up; empty: they are not.
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
    auto found = select(*session_.source, by_.empty() ? words : words_of_families(words));
    if (!found) return explain(found.error());
    selections_ = std::move(found).value();
    if (!by_.empty()) return check_label();
    name_single_match(selections_);
    return kDone;
  }

  // A family has all names with its labels, and may have one without.
  std::vector<std::string> words_of_families(const std::vector<std::string>& words) {
    std::vector<std::string> made;
    for (const std::string& word : words) {
      const bool is_family = word.find('/') != word.npos && word.find_first_of("{*?[") == word.npos;
      const std::string pattern = word + "{*";
      const bool has_labels = is_family && select(*session_.source, {pattern});
      if (has_labels) made.push_back(pattern);
      if (!has_labels || select(*session_.source, {word})) made.push_back(word);
    }
    return made;
  }

  int check_label() {
    const auto now = read_moment(*session_.source, selections_);
    if (!now) return complain(now.error());
    std::vector<std::string> labels;
    for (const auto& [name, each] : now.value()) {
      for (std::string& label : view::labels_of(parts_of(each.interface))) {
        if (label == by_) return kDone;
        if (std::ranges::find(labels, label) == labels.end()) labels.push_back(std::move(label));
      }
    }
    std::string reason = "there is no label '" + by_ + "'";
    if (labels.empty()) return complain(kRefused, reason + ", nor another one");
    reason.append("; the labels are");
    for (const std::string& label : labels) reason.append(" ").append(label);
    return complain(kRefused, reason);
  }

  // Of the interface's statistics those that are selected.
  std::vector<const view::Statistic*> parts_of(const view::Interface& interface) const {
    std::vector<const view::Statistic*> parts;
    for (const Selection& selection : selections_) {
      if (selection.interface != interface.name) continue;
      for (const view::Statistic* each : selected(interface, selection)) parts.push_back(each);
    }
    return parts;
  }

  // Each interface with sums instead of its statistics.
  void add_up(Moment& moment) {
    left_out_ = 0;
    for (auto& [name, each] : moment) {
      view::Sums sums = view::sums_by(by_, parts_of(each.interface));
      left_out_ += sums.left_out;
      each.interface.statistics = std::move(sums.statistics);
    }
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

  Result<Moment> read() {
    auto moment = read_moment(*session_.source, selections_);
    if (moment && !by_.empty()) add_up(moment.value());
    return moment;
  }

  void draw(const Moment& now, const Moment* before) const {
    if (session_.options.json) return print_json(now, before);
    view::Grid grid = session_.grid();
    std::vector<view::StatisticRow> rows =
        by_.empty() ? std::vector<view::StatisticRow>() : rows_of_sums(now, before);
    for (const Selection& selection : by_.empty() ? selections_ : std::vector<Selection>()) {
      const auto found = now.find(selection.interface);
      if (found == now.end()) continue;
      const view::Interface& interface = found->second.interface;
      for (const view::Statistic* each : selected(interface, selection)) {
        const auto change = change_of(before, interface, each->name);
        if (selection.is_whole || selection.is_pattern || session_.options.chooses_rows())
          rows.push_back({&interface, each, change});
        else
          draw_one(grid, interface, *each, change);
      }
    }
    session_.put_rows(grid, std::move(rows));
    if (session_.options.exports_rows()) return;
    if (left_out_ != 0) {
      grid.put_line(std::to_string(left_out_) + " statistics do not add up, and are left out",
                    {view::Tone::kWarning});
    }
    if (before) grid.put_line("");
    print(grid, session_.terminal);
  }

  static std::vector<view::StatisticRow> rows_of_sums(const Moment& now, const Moment* before) {
    std::vector<view::StatisticRow> rows;
    for (const auto& [name, each] : now) {
      for (const view::Statistic& sum : each.interface.statistics) {
        rows.push_back({&each.interface, &sum, change_of(before, each.interface, sum.name)});
      }
    }
    return rows;
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
  const std::string by_;
  std::vector<Selection> selections_;
  std::size_t left_out_ = 0;
};

// Options that do not go together; nullptr: they do.
const char* fault_of(const Options& options, const PastOptions& past, const std::string& by,
                     bool changed) {
  if (!by.empty() && (changed || options.json || past.is_wanted())) {
    return "--by goes with neither --changed, --json nor a past";
  }
  if (options.chooses_rows() && (changed || options.json || !past.versus.empty())) {
    return "--sort, --nonzero, --top, --csv and --tsv go with neither --changed, --json nor --vs";
  }
  if (!past.store.empty() && !past.is_wanted()) {
    return "--store needs the time that is meant: --last 10m, or --at 12:03";
  }
  if (!past.is_wanted()) return nullptr;
  if (!options.every.empty() || !options.from.empty()) {
    return "--at, --last and --vs are of a store; --every and --from are not";
  }
  const bool has_two_bases = changed && !past.versus.empty();
  return has_two_bases ? "--changed compares with the spans directly before; --vs is of show "
                         "without it"
                       : nullptr;
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
  line.add({.names = "--by",
            .variable = &by,
            .value = "LABEL",
            .text = "add up statistics of a name, as web/latency{route:/cart,code:200}, over all "
                    "labels but this one",
            .shown = Option::Default::kHidden});
  PastOptions past;
  add_past(line, past);
  add_versus(line, past);
  add_rows(line, session.options);
  add_table_options(line, session.options);
  line.add_arguments("WHAT", session.options.words,
                     "interfaces, statistics, or patterns; a path in the mount");
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const char* const fault = fault_of(session.options, past, by, changed)) {
    return complain(kWrongUsage, fault);
  }
  if (past.is_wanted()) return changed ? show_changed(session, past) : show_past(session, past);
  if (const auto status = session.open()) return *status;
  if (changed) return show_changed(session);
  return Show(session, std::string_view(argv[0]) == "show", by).run();
}

}  // namespace tallyfs
