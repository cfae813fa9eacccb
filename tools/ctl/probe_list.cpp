// tallyctl probe list: what a program has that can be probed. It needs no mount, and no root.
#include <fnmatch.h>

#include <algorithm>

#include "core/base/shown_text.h"
#include "core/base/text.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/probe.h"
#include "tools/ctl/probe_target.h"
#include "tools/display/table.h"

namespace tallyfs {
namespace {

constexpr CommandText kProbeListText = {
    "probe list", "Lists the functions and markers of a program, and what a hit costs.",
    "  tallyctl probe list bash                      all that it has\n"
    "  tallyctl probe list libc.so.6 '*alloc*'       those of such a name\n"
    "  tallyctl probe list 4711 'ns::Cache::*'       of a running program"};

using tracing::ListedFunction;

constexpr std::size_t kInTableMax = 10'000;

struct Chosen {
  std::vector<const ListedFunction*> functions;
  std::vector<const tracing::ListedMarker*> markers;
};

Chosen chosen(const tracing::ProgramList& list, const std::string& pattern) {
  const auto matches = [&](const std::string& name) {
    return pattern.empty() || ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  };
  Chosen listed;
  for (const auto& each : list.functions) {
    if (matches(each.name()) || matches(each.symbol)) listed.functions.push_back(&each);
  }
  for (const auto& each : list.markers) {
    if (matches(each.name)) listed.markers.push_back(&each);
  }
  return listed;
}

const char* returns_of(const tracing::ProgramList& list, const ListedFunction& function) {
  if (function.is_indirect) return "chosen at run time: probe a variant";
  if (list.is_go || tracing::is_return_unsafe(function.symbol)) return "no return";
  return list.may_throw ? "return, if no exception passes" : "";
}

void show_json(const tracing::ProgramList& list, const Chosen& listed, const std::string& path) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().key("program").string(path).key("functions").begin_array();
  for (const ListedFunction* each : listed.functions) {
    writer.begin_object().key("function").string(each->name()).key("symbol").string(each->symbol);
    writer.key("offset").number(each->offset).key("hit").string(word_of(each->cost));
    writer.key("note").string(returns_of(list, *each)).end_object();
  }
  writer.end_array().key("markers").begin_array();
  for (const tracing::ListedMarker* each : listed.markers) {
    writer.begin_object().key("marker").string(each->name).key("places").number(each->places);
    writer.key("arguments").string(each->arguments).end_object();
  }
  writer.end_array().end_object();
  print(text.append("\n"));
}

// A large program's table would have cells for as many columns as its longest name: pipes have
// lines of it, with columns that are as wide as usual names.
void show_lines(const tracing::ProgramList& list, const Chosen& listed) {
  constexpr std::size_t kNameWidth = 40;
  constexpr std::size_t kOffsetWidth = 12;
  const auto add = [](std::string& line, const std::string& text, std::size_t width) {
    const std::size_t begin = line.size();
    append_shown(line, text, text.size(), 0);
    const std::size_t wide = line.size() - begin;
    line.append(wide < width ? width - wide : 0, ' ').append("  ");
  };
  std::string text;
  const auto end = [&](std::string& line) {
    line.erase(line.find_last_not_of(' ') + 1);
    text.append(line).append("\n");
  };
  for (const ListedFunction* each : listed.functions) {
    std::string line, offset;
    append_hex(offset, each->offset);
    add(line, each->name(), kNameWidth);
    add(line, offset, kOffsetWidth);
    add(line, word_of(each->cost), std::string_view("cheap").size());
    add(line, returns_of(list, *each), 0);
    end(line);
  }
  for (const tracing::ListedMarker* each : listed.markers) {
    std::string line;
    add(line, each->name, kNameWidth);
    add(line, std::to_string(each->places), kOffsetWidth);
    add(line, each->arguments, 0);
    end(line);
  }
  print(text);
}

void show_tables(Session& session, const tracing::ProgramList& list, const Chosen& listed) {
  view::Grid grid = session.grid();
  if (!listed.functions.empty()) {
    view::Table table(session.look);
    table.add_column("FUNCTION", view::Align::kLeft);
    table.add_column("OFFSET");
    table.add_column("A HIT", view::Align::kLeft);
    table.add_column("NOTE", view::Align::kLeft);
    for (const ListedFunction* each : listed.functions) {
      std::string offset;
      append_hex(offset, each->offset);
      table.add_row({each->name(), offset, word_of(each->cost), returns_of(list, *each)});
    }
    table.draw(grid);
  }
  if (!listed.markers.empty()) {
    view::Table table(session.look);
    table.add_column("MARKER", view::Align::kLeft);
    table.add_column("PLACES");
    table.add_column("ARGUMENTS", view::Align::kLeft);
    for (const tracing::ListedMarker* each : listed.markers) {
      table.add_row({each->name, view::grouped_text(each->places), each->arguments});
    }
    table.draw(grid);
  }
  print(grid, session.terminal);
}

}  // namespace

int run_probe_list(int argc, char** argv) {
  Session session;
  std::uint64_t pid = 0;
  CommandLine line = command_line(kProbeListText, session.options);
  line.add({.names = "--pid",
            .variable = &pid,
            .value = "PID",
            .text = "a library of this process",
            .check = InRange{1, 1U << 30},
            .shown = Option::Default::kHidden});
  line.add_arguments("PROGRAM", session.options.words,
                     "a path, a name of $PATH, a PID or a library; then a GLOB",
                     {.least = 1, .most = 2});
  if (const auto status = line.parse(argc, argv)) return *status;
  session.terminal = find_terminal(session.options);
  session.look = look_of(session.options, session.terminal);
  const auto& words = session.options.words;
  const auto program = find_program(words.front(), static_cast<pid_t>(pid));
  if (!program) return complain(kRefused, program.error().reason);
  const auto list = list_of(program.value().path);
  if (!list) return complain(kRefused, list.error().reason);
  const Chosen listed = chosen(list.value(), words.size() > 1 ? words[1] : std::string());
  if (session.options.json) {
    show_json(list.value(), listed, program.value().path);
  } else if (listed.functions.empty() && listed.markers.empty()) {
    return complain(
        kRefused,
        program.value().path + " has no such function" +
            (list.value().has_symbols ? "" : " (it is stripped: install its debug symbols)"));
  } else if (session.terminal.is_terminal && listed.functions.size() <= kInTableMax) {
    show_tables(session, list.value(), listed);
  } else {
    show_lines(list.value(), listed);
  }
  return kDone;
}

}  // namespace tallyfs
