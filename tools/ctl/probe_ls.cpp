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

std::string note_of_orphan() {
  return "of a killed tallyfs: tally-feed-tracefs --remove-orphans";
}

// What is not known of a probe is null.
void write_probe(JsonWriter& writer, const KnownProbe& probe) {
  writer.begin_object().key("event").string(probe.event).key("program").string(probe.program);
  writer.key("return");
  probe.is_leaving ? writer.null() : writer.boolean(probe.is_return);
  writer.key("places").number(probe.places).key("hits");
  probe.hits ? writer.number(*probe.hits) : writer.null();
  writer.key("stale").boolean(probe.is_stale).key("leaving").boolean(probe.is_leaving);
  writer.key("orphan").boolean(false).key("note").string(note_of(probe)).end_object();
}

// A group that is left over is one event of the list, `GROUP/`.
void write_orphan(JsonWriter& writer, const std::string& group) {
  writer.begin_object().key("event").string(group + "/");
  for (const char* const key : {"program", "return", "places", "hits"}) writer.key(key).null();
  writer.key("stale").boolean(false).key("leaving").boolean(false).key("orphan").boolean(true);
  writer.key("note").string(note_of_orphan()).end_object();
}

std::string json_of(const std::vector<KnownProbe>& all, const std::vector<std::string>& orphans) {
  std::string text;
  JsonWriter writer(text);
  writer.begin_array();
  for (const KnownProbe& each : all) write_probe(writer, each);
  for (const std::string& group : orphans) write_orphan(writer, group);
  writer.end_array();
  return text.append("\n");
}

std::string kind_of(const KnownProbe& probe) {
  if (probe.is_leaving) return "-";
  return probe.is_return ? "return" : "entry";
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
    table.add_row({each.event, kind_of(each), view::grouped_text(each.places),
                   each.hits ? view::grouped_text(*each.hits) : "-", each.program, note_of(each)});
  }
  view::Grid grid = session.grid();
  if (all.empty()) {
    grid.put_line("no probes", {view::Tone::kDim});
  } else {
    table.draw(grid);
  }
  for (const std::string& group : orphans) {
    grid.put_line(group + ": " + note_of_orphan(), {view::Tone::kWarning});
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
  const auto all = listed_probes(files.value());
  if (!all) return complain(all.error());
  if (session.options.json) {
    print(json_of(all.value(), orphaned_probes()));
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
