// tallyctl probe ls and renew: the probes that are there, and those whose program was replaced.
#include "tools/ctl/commands.h"
#include "tools/ctl/known_probes.h"
#include "tools/ctl/options.h"
#include "tools/ctl/probe.h"
#include "tools/ctl/probe_files.h"
#include "tools/ctl/session.h"
#include "tools/display/table.h"

namespace tallyfs {
namespace {

constexpr CommandText kProbeLsText = {
    "probe ls", "Lists the probes of the mount.",
    "  tallyctl probe ls                what is probed, and how often it was met\n"
    "  tallyctl probe ls --json\n"
    "  tallyctl probe renew alloc       of a program that was replaced\n"
    "  tallyctl probe rm tallyctl_4711  what an ended command has left"};
constexpr CommandText kProbeRenewText = {
    "probe renew",
    "Finds the places of probes again, after their program was replaced by a new file; as root.\n"
    "What is set on them stays, and histograms count on.",
    "  tallyctl probe renew alloc           by its name\n"
    "  tallyctl probe renew uprobes/        all of a group\n"
    "  tallyctl probe ls                    says which are stale"};

std::string json_of(const std::vector<KnownProbe>& all) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_array();
  for (const KnownProbe& each : all) {
    writer.begin_object().key("event").string(each.event).key("program").string(each.program);
    writer.key("return").boolean(each.is_return).key("places").number(each.places).key("hits");
    each.hits ? writer.number(*each.hits) : writer.null();
    writer.key("stale").boolean(each.is_stale).key("note").string(note_of(each));
    writer.end_object();
  }
  writer.end_array();
  return text.append("\n");
}

void print_table(const Session& session, const std::vector<KnownProbe>& all,
                 const std::vector<std::string>& orphans) {
  view::Table table(session.look);
  table.add_column("EVENT", view::Align::kLeft);
  table.add_column("OF", view::Align::kLeft);
  table.add_column("PLACES");
  table.add_column("HITS");
  table.add_column("PROGRAM", view::Align::kLeft);
  table.add_column("NOTE", view::Align::kLeft);
  for (const KnownProbe& each : all) {
    table.add_row({each.event, each.is_return ? "return" : "entry", view::grouped_text(each.places),
                   each.hits ? view::grouped_text(*each.hits) : "-", each.program, note_of(each)});
  }
  view::Grid grid = session.grid();
  if (all.empty()) {
    grid.put_line("no probes", {view::Tone::kDim});
  } else {
    table.draw(grid);
  }
  for (const std::string& group : orphans) {
    grid.put_line(group + ": of a killed tallyfs: tally-feed-tracefs --remove-orphans",
                  {view::Tone::kWarning});
  }
  print(grid, session.terminal);
}

int renew(const ProbeFiles& files, const std::vector<KnownProbe>& all, const std::string& name) {
  std::string lines;
  for (const KnownProbe& each : all) {
    if (!is_meant(each.event, name)) continue;
    for (const std::string& line : each.lines) lines.append(line).append("\n");
  }
  const auto done = files.renew(name, lines);
  if (done) return kDone;
  return complain(kRefused, name + " is not renewed: " + done.error().reason);
}

}  // namespace

int run_probe_ls(int argc, char** argv) {
  Session session;
  CommandLine line = command_line(kProbeLsText, session.options);
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  const auto files = ProbeFiles::open(session.source->mount(), ProbeFiles::For::kReading);
  if (!files) return complain(files.error());
  const auto all = known_probes(files.value());
  if (!all) return complain(all.error());
  if (session.options.json) {
    print(json_of(all.value()));
  } else {
    print_table(session, all.value(), orphaned_probes());
  }
  return kDone;
}

int run_probe_renew(int argc, char** argv) {
  Session session;
  CommandLine line = command_line(kProbeRenewText, session.options);
  line.add_arguments("NAME", session.options.words, "EVENT, GROUP/EVENT, or GROUP/ for all of it",
                     {.least = 1});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  const auto files = ProbeFiles::open(session.source->mount(), ProbeFiles::For::kWriting);
  if (!files) return complain(files.error());
  const auto all = known_probes(files.value());
  if (!all) return complain(all.error());
  int status = kDone;
  for (const std::string& name : session.options.words) {
    if (const int one = renew(files.value(), all.value(), name); one != kDone) status = one;
  }
  return status;
}

}  // namespace tallyfs
