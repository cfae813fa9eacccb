// tallyctl diff: what was counted between two snapshots, each the end of a recording, or now.
#include <algorithm>

#include "tools/ctl/commands.h"
#include "tools/ctl/recording.h"
#include "tools/ctl/session.h"
#include "tools/ctl/show_past.h"
#include "tools/ctl/snapshot.h"
#include "tools/display/change.h"
#include "tools/display/summary.h"
#include "tools/display/table.h"
#include "tools/tree/view_json.h"

namespace tallyfs {
namespace {

constexpr CommandText kDiffText = {
    "diff", "Shows what was counted between two snapshots.",
    "  tallyctl diff before.jsonl now                 since that recording ended\n"
    "  tallyctl diff --at 12:03+5m                    compares it with as long before\n"
    "  tallyctl record --count 1 - | tallyctl diff - now"};

class Diff {
 public:
  explicit Diff(Session& session) : session_(session) {}

  int run(bool tells_by_status) {
    const auto a = load(session_.options.words[0]);
    if (!a) return complain(a.error());
    const auto b = load(session_.options.words[1]);
    if (!b) return complain(b.error());
    if (session_.options.json && !session_.options.exports_rows()) {
      print_json(a.value(), b.value());
    } else {
      draw(a.value(), b.value());
    }
    return tells_by_status && differs_ ? kRefused : kDone;
  }

 private:
  Result<Interfaces> load(const std::string& word) {
    std::unique_ptr<Source> opened;
    if (word != "now") {
      auto recording = open_recording_named(word);
      if (!recording) return recording.error();
      opened = std::move(recording).value();
    } else if (!session_.source) {
      if (const auto status = session_.open()) {
        return Error{*status == kNoAnswer ? ErrorCode::kNotFound : ErrorCode::kInvalid,
                     "there is no now"};
      }
    }
    Source& source = opened ? *opened : *session_.source;
    return opened ? read_end(source) : read_all(source);
  }

  void draw(const Interfaces& a, const Interfaces& b) {
    view::Grid grid = session_.grid();
    for_each_of_both(
        a, b,
        [&](const std::string& interface, const view::Statistic* was, const view::Statistic* now) {
          name_other_definitions(grid, interface, was, now);
        });
    std::vector<view::StatisticRow> rows = rows_of(a, b);
    session_.choose_rows(rows);
    if (session_.options.exports_rows()) return session_.print_rows(view::exported(rows));
    view::Table table(session_.look);
    table.add_column("STATISTIC", view::Align::kLeft);
    table.add_column("COUNTED");
    table.add_column("RATE");
    table.add_column("VALUES OF THAT", view::Align::kLeft);
    table.add_column("A", view::Align::kLeft);
    table.add_column("B", view::Align::kLeft);
    for (const view::StatisticRow& each : rows) {
      const auto before = a.find(each.interface->name);
      add_row(table, *before->second.find(each.statistic->name), each);
    }
    if (!table.empty()) table.draw(grid);
    print(grid, session_.terminal);
  }

  void name_other_definitions(view::Grid& grid, const std::string& interface,
                              const view::Statistic* was, const view::Statistic* now) {
    const std::string name = view::shown_name(interface, now ? now->name : was->name);
    if (was && now && is_alike(*was, *now)) return;
    differs_ = true;
    const std::string text = !was   ? "only in B"
                             : !now ? "only in A"
                                    : definition_of(*was) + " -> " + definition_of(*now);
    session_.put_note(grid, name + ": " + text, {view::Tone::kWarning});
  }

  // What is in both, defined alike.
  std::vector<view::StatisticRow> rows_of(const Interfaces& a, const Interfaces& b) {
    std::vector<view::StatisticRow> rows;
    for_each_of_both(
        a, b, [&](const std::string& name, const view::Statistic* was, const view::Statistic* now) {
          if (!was || !now || !is_alike(*was, *now)) return;
          const view::Interface& interface = b.at(name);
          rows.push_back({&interface, now, view::change_between(a.at(name), interface, now->name)});
          if (rows.back().change->samples.value_or(1) > 0) differs_ = true;
        });
    return rows;
  }

  void add_row(view::Table& table, const view::Statistic& was,
               const view::StatisticRow& row) const {
    const view::Change& change = *row.change;
    const auto rate = change.rate();
    table.add_row({view::shown_name(row.interface->name, row.statistic->name),
                   change.samples ? view::grouped_text(*change.samples) : "-",
                   rate ? view::rate_text(*rate) : "-",
                   change.counted ? view::row_text(*change.counted, session_.look) : "-",
                   view::row_text(was, session_.look),
                   view::row_text(*row.statistic, session_.look)});
  }

  void print_json(const Interfaces& a, const Interfaces& b) {
    std::string text;
    differs_ = append_differences(text, a, b);
    print(text.append("\n"));
  }

  Session& session_;
  bool differs_ = false;
};

}  // namespace

int run_diff(int argc, char** argv) {
  Session session;
  bool tells_by_status = false;
  CommandLine line = command_line(kDiffText, session.options);
  PastOptions past;
  add_past(line, past);
  add_versus(line, past);
  add_rows(line, session.options);
  add_table_options(line, session.options);
  line.add_flag("--exit-code", tells_by_status, "exit with 1 if something was counted or differs");
  line.add_arguments("A B", session.options.words,
                     "recordings, or now, or - for stdin; with --at and --last what is compared");
  if (const auto status = line.parse(argc, argv)) return *status;
  if (past.is_wanted() && !tells_by_status) {
    if (past.versus.empty()) past.versus = "before";
    return show_past(session, past);
  }
  if (past.is_wanted() || !past.store.empty()) {
    return complain(kWrongUsage, past.is_wanted()
                                     ? "--exit-code is of snapshots"
                                     : "--store needs the time that is meant: --last 10m");
  }
  if (const std::string fault = fault_of_sorting(session.options); !fault.empty()) {
    return complain(kWrongUsage, fault);
  }
  if (session.options.words.size() != 2) {
    return complain(kWrongUsage,
                    "diff compares two of: a FILE of tallyctl record, now, or - for "
                    "stdin, as tallyctl diff before.jsonl now");
  }
  if (session.options.words[0] == "-" && session.options.words[1] == "-") {
    return complain(kWrongUsage, "stdin can be only one of them");
  }
  session.terminal = find_terminal(session.options);
  session.look = look_of(session.options, session.terminal);
  return Diff(session).run(tells_by_status);
}

}  // namespace tallyfs
