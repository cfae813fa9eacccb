// tallyctl ls lists interfaces, of those that are named their statistics, and what is in a
// directory of tracing/ or stats/.
#include <algorithm>
#include <array>

#include "tools/ctl/commands.h"
#include "tools/ctl/read_interfaces.h"
#include "tools/ctl/session.h"
#include "tools/ctl/what.h"
#include "tools/display/quantity.h"
#include "tools/display/summary.h"
#include "tools/display/table.h"

namespace tallyfs {
namespace {

constexpr CommandText kLsText = {
    "ls", "Lists interfaces, and of those that are named their statistics.",
    "  tallyctl ls                  interfaces\n"
    "  tallyctl ls -l               interfaces, their owners, and who may feed them\n"
    "  tallyctl ls web 'block-*'    statistics of these\n"
    "  tallyctl ls stats/tcp        what is in a directory"};

class List {
 public:
  List(Session& session, bool names, bool rights)
      : session_(session), names_(names), rights_(rights) {}

  int run() {
    if (session_.options.json && !session_.options.exports_rows()) return print_json();
    std::vector<std::string> words;
    for (const std::string& word : session_.options.words) {
      const std::string path = path_in(*session_.source, word);
      if (path.empty())
        words.push_back(word);
      else if (const int status = list_path(path); status != kDone)
        return status;
    }
    if (session_.options.words.empty()) return list_interfaces();
    return words.empty() ? kDone : list_statistics(words);
  }

 private:
  int print_json() {
    const auto json = session_.source->tree();
    if (!json) return complain(json.error());
    std::string text;
    JsonWriter writer(text);
    write_json(writer, json.value());
    print(text.append("\n"));
    return kDone;
  }

  // Lists the content of a directory, or the path of a file.
  int list_path(const std::string& path) {
    if (session_.options.chooses_rows()) {
      return complain(kWrongUsage, path + " has no rows to sort or export");
    }
    const auto paths = paths_below(*session_.source, path);
    if (paths) {
      for (const std::string& each : paths.value()) print(each + "\n");
      return kDone;
    }
    const auto beside = paths_below(*session_.source, path.substr(0, path.rfind('/')));
    if (!beside || std::ranges::count(beside.value(), path) == 0) {
      return complain(kRefused, paths.error().reason);
    }
    print(path + "\n");
    return kDone;
  }

  int list_interfaces() {
    const auto tree = read_tree(*session_.source);
    if (!tree) return complain(tree.error());
    const auto key = view::sort_key_of(session_.options.sort);
    if (key && !view::sorts_interfaces(*key)) {
      return complain(kWrongUsage, "interfaces are sorted by name or samples");
    }
    std::vector<const view::InterfaceSummary*> rows;
    for (const auto& each : tree.value().interfaces) rows.push_back(&each);
    session_.choose_rows(rows);
    if (session_.options.exports_rows()) return print_rows(view::exported(rows));
    if (names_) return print_names(rows);
    view::Table table(session_.look);
    table.add_column("INTERFACE", view::Align::kLeft);
    table.add_column("STATISTICS");
    table.add_column("ON");
    table.add_column("SAMPLES");
    if (rights_) add_rights(table);
    for (const auto* each : rows) table.add_row(row_of(*each));
    return draw(table);
  }

  static void add_rights(view::Table& table) {
    table.add_column("UID");
    table.add_column("FEED", view::Align::kLeft);
  }

  std::vector<std::string> row_of(const view::InterfaceSummary& each) const {
    std::vector<std::string> row = {each.name, view::grouped_text(each.statistics),
                                    view::grouped_text(each.on), view::grouped_text(each.samples)};
    if (rights_) row.insert(row.end(), {each.uid, each.feed});
    return row;
  }

  int list_statistics(const std::vector<std::string>& words) {
    const auto found = select(*session_.source, words);
    if (!found) return complain(found.error());
    const auto tree = read_tree(*session_.source);
    if (!tree) return complain(tree.error());
    const auto read = read_interfaces(*session_.source, found.value());
    if (!read) return complain(read.error());
    std::vector<view::StatisticRow> rows;
    for (const Selection& selection : found.value()) {
      const auto interface = read.value().find(selection.interface);
      if (interface == read.value().end()) continue;
      for (const view::Statistic* each : selected(interface->second.interface, selection)) {
        rows.push_back({&interface->second.interface, each, std::nullopt});
      }
    }
    session_.choose_rows(rows);
    if (session_.options.exports_rows()) return print_rows(exported(rows, tree.value()));
    return names_ ? print_names(rows) : draw(rows, tree.value());
  }

  view::Exported exported(const std::vector<view::StatisticRow>& rows,
                          const view::Tree& tree) const {
    view::Exported made = view::exported(rows);
    if (!rights_) return made;
    made.columns.push_back({"uid"});
    made.columns.push_back({"feed", view::Exported::Cells::kTexts});
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto rights = rights_of(rows[i], tree);
      made.rows[i].insert(made.rows[i].end(), rights.begin(), rights.end());
    }
    return made;
  }

  // Returns the owner's uid and who may feed the interface, both empty if it is gone again.
  static std::array<std::string, 2> rights_of(const view::StatisticRow& row,
                                              const view::Tree& tree) {
    const auto found =
        std::ranges::find(tree.interfaces, row.interface->name, &view::InterfaceSummary::name);
    if (found == tree.interfaces.end()) return {};
    return {found->uid, found->feed};
  }

  int draw(const std::vector<view::StatisticRow>& rows, const view::Tree& tree) {
    view::Table table(session_.look);
    table.add_column("STATISTIC", view::Align::kLeft);
    table.add_column("ON");
    table.add_column("TYPE", view::Align::kLeft);
    table.add_column("SAMPLES");
    table.add_column("UNITS", view::Align::kLeft);
    if (rights_) add_rights(table);
    for (const view::StatisticRow& each : rows) {
      const view::Statistic& statistic = *each.statistic;
      std::vector<std::string> row = {view::shown_name(each.interface->name, statistic.name),
                                      statistic.on ? "on" : "off", statistic.type,
                                      view::grouped_text(statistic.samples), statistic.units};
      if (rights_) {
        const auto rights = rights_of(each, tree);
        row.insert(row.end(), rights.begin(), rights.end());
      }
      table.add_row(std::move(row));
    }
    return draw(table);
  }

  int print_rows(const view::Exported& rows) {
    session_.print_rows(rows);
    return kDone;
  }

  int draw(const view::Table& table) {
    view::Grid grid = session_.grid();
    table.draw(grid);
    print(grid, session_.terminal);
    return kDone;
  }

  static int print_names(const std::vector<const view::InterfaceSummary*>& interfaces) {
    std::string text;
    for (const auto* each : interfaces) text.append(each->name).append("\n");
    print(text);
    return kDone;
  }
  static int print_names(const std::vector<view::StatisticRow>& rows) {
    std::string text;
    for (const view::StatisticRow& each : rows) {
      text.append(each.interface->name).append("/").append(each.statistic->name).append("\n");
    }
    print(text);
    return kDone;
  }

  Session& session_;
  const bool names_;
  const bool rights_;
};

}  // namespace

int run_ls(int argc, char** argv) {
  Session session;
  bool names = false;
  bool rights = false;
  CommandLine line = command_line(kLsText, session.options);
  add_from(line, session.options);
  line.add_flag("--no-header", session.options.no_header, "without headings");
  add_rows(line, session.options);
  line.add_flag("--names", names, "names alone, one a line", "--csv --tsv");
  line.add_flag("-l,--long", rights, "the uid of each interface's owner, and who may feed it");
  line.add_arguments("WHAT", session.options.words,
                     "interfaces or statistics, or patterns; a directory of tracing or stats");
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const std::string fault = fault_of_sorting(session.options); !fault.empty()) {
    return complain(kWrongUsage, fault);
  }
  if (const auto status = session.open()) return *status;
  if (const auto status = session.go_to_end()) return *status;
  return List(session, names, rights).run();
}

}  // namespace tallyfs
