// tallyctl reset, undo, on and off: one line for each statistic that is named, or one for an
// interface.
#include "tools/ctl/commands.h"
#include "tools/ctl/session.h"
#include "tools/ctl/what.h"
#include "tools/ctl/write_report.h"
#include "tools/tree/definition_file.h"

namespace tallyfs {
namespace {

constexpr CommandText kResetText = {
    "reset", "Discards the data of statistics.",
    "  tallyctl reset web               of all of an interface, in one step\n"
    "  tallyctl reset web/us            of one\n"
    "  tallyctl reset 'block-*'         of all whose names match"};
constexpr CommandText kUndoText = {
    "undo", "Brings data back that a reset or a new definition discarded, for 60 s.",
    "  tallyctl undo web                of all of an interface, in one step\n"
    "  tallyctl undo web/us             of one\n"
    "  tallyctl undo 'block-*'          of all whose names match"};
constexpr CommandText kOnText = {"on", "Switches statistics on.",
                                 "  tallyctl on web                  all of an interface\n"
                                 "  tallyctl on web/us               one\n"
                                 "  tallyctl on 'block-*'            all whose names match"};
constexpr CommandText kOffText = {"off", "Switches statistics off; their data stays.",
                                  "  tallyctl off web                 all of an interface\n"
                                  "  tallyctl off web/us              one\n"
                                  "  tallyctl off 'block-*'           all whose names match"};

int write_lines(Session& session, const std::string& keys) {
  const auto found = select(*session.source, session.options.words);
  if (!found) return complain(found.error());
  WriteReport report(session);
  const auto write = [&](const std::string& interface, const std::string& line) {
    report.add(interface, interface, line,
               write_definition(session.source->mount(), interface, line));
  };
  for (const Selection& each : found.value()) {
    if (each.is_whole) write(each.interface, keys);
    for (const std::string& name : each.statistics) {
      write(each.interface, "name=" + name + " " + keys);
    }
  }
  return report.finish();
}

int run_switch(int argc, char** argv, const CommandText& text, const std::string& keys) {
  Session session;
  CommandLine line = command_line(text, session.options);
  line.add_arguments("WHAT", session.options.words, "interfaces or statistics, or patterns",
                     {.least = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  return write_lines(session, keys);
}

}  // namespace

int run_reset(int argc, char** argv) { return run_switch(argc, argv, kResetText, "data=reset"); }
int run_undo(int argc, char** argv) { return run_switch(argc, argv, kUndoText, "undo=1"); }
int run_on(int argc, char** argv) { return run_switch(argc, argv, kOnText, "on=1"); }
int run_off(int argc, char** argv) { return run_switch(argc, argv, kOffText, "on=0"); }

}  // namespace tallyfs
