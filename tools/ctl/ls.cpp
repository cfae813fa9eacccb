// tallyctl ls: interfaces, and of those that are named their statistics.
#include "tools/ctl/commands.h"
#include "tools/ctl/session.h"
#include "tools/ctl/what.h"
#include "tools/display/quantity.h"
#include "tools/display/table.h"

namespace tallyfs {
namespace {

constexpr CommandText kLsText = {
    "ls", "Lists interfaces, and of those that are named their statistics.",
    "  tallyctl ls                  interfaces\n"
    "  tallyctl ls -l               interfaces, their owners, and who may feed them\n"
    "  tallyctl ls web 'block-*'    statistics of these"};

class List {
 public:
  List(Session& session, bool names, bool rights)
      : session_(session), names_(names), rights_(rights) {}

  int run() {
    if (session_.options.json) return print_json();
    return session_.options.words.empty() ? list_interfaces() : list_statistics();
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

  int list_interfaces() {
    const auto tree = read_tree(*session_.source);
    if (!tree) return complain(tree.error());
    if (names_) return print_names(tree.value());
    view::Table table(session_.look);
    table.add_column("INTERFACE", view::Align::kLeft);
    table.add_column("STATISTICS");
    table.add_column("ON");
    table.add_column("SAMPLES");
    if (rights_) {
      table.add_column("UID");
      table.add_column("FEED", view::Align::kLeft);
    }
    for (const auto& each : tree.value().interfaces) table.add_row(row_of(each));
    return draw(table);
  }

  std::vector<std::string> row_of(const view::InterfaceSummary& each) const {
    std::vector<std::string> row = {each.name, view::grouped_text(each.statistics),
                                    view::grouped_text(each.on), view::grouped_text(each.samples)};
    if (rights_) row.insert(row.end(), {each.uid, each.feed});
    return row;
  }

  int list_statistics() {
    const auto found = select(*session_.source, session_.options.words);
    if (!found) return complain(found.error());
    view::Table table(session_.look);
    table.add_column("STATISTIC", view::Align::kLeft);
    table.add_column("ON");
    table.add_column("TYPE", view::Align::kLeft);
    table.add_column("SAMPLES");
    table.add_column("UNITS", view::Align::kLeft);
    std::string names;
    for (const Selection& selection : found.value()) {
      const auto interface = read_interface(*session_.source, selection.interface);
      if (!interface) return complain(interface.error());
      for (const view::Statistic* each : selected(interface.value(), selection)) {
        const std::string name = selection.interface + "/" + each->name;
        names.append(name).append("\n");
        table.add_row({name, each->on ? "on" : "off", each->type, view::grouped_text(each->samples),
                       each->units});
      }
    }
    if (!names_) return draw(table);
    print(names);
    return kDone;
  }

  int draw(const view::Table& table) {
    view::Grid grid = session_.grid();
    table.draw(grid);
    print(grid, session_.terminal);
    return kDone;
  }

  static int print_names(const view::Tree& tree) {
    std::string text;
    for (const auto& each : tree.interfaces) text.append(each.name).append("\n");
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
  line.add_flag("--names", names, "names alone, one a line");
  line.add_flag("-l,--long", rights, "of interfaces the owner's uid, and who may feed them");
  line.add_arguments("WHAT", session.options.words, "interfaces or statistics, or patterns");
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  if (const auto status = session.go_to_end()) return *status;
  return List(session, names, rights).run();
}

}  // namespace tallyfs
