// tallyctl probe count: how often functions of a program are called. One event has a place for each
// function, with a number of its own as its argument, which is the key of a histogram.
#include <algorithm>
#include <map>
#include <utility>

#include "tools/ctl/commands.h"
#include "tools/ctl/probe.h"
#include "tools/ctl/probe_files.h"
#include "tools/ctl/probe_target.h"
#include "tools/display/table.h"

namespace tallyfs {
namespace {

constexpr CommandText kProbeCountText = {
    "probe count", "Counts the calls of functions of a program, until Ctrl-C; as root.",
    "  tallyctl probe count bash '*' --for 10s         which functions are called most\n"
    "  tallyctl probe count libc.so.6 malloc free --every 1s\n"
    "  tallyctl probe count 4711 'ns::Cache::*'        of one process"};

struct Counts {
  std::map<std::uint64_t, std::uint64_t> calls;
  std::uint64_t time_us = 0;
};

class Counting {
 public:
  Counting(Session& session, const ProbeTarget& target) : session_(session), target_(target) {}

  int run(ProbeOptions& probe);

 private:
  Result<void> begin(const ProbeFiles& files, const TemporaryProbes& probes,
                     const ProbeOptions& probe);
  Result<Counts> read(const ProbeFiles& files, const TemporaryProbes& probes) const;
  void show(const Counts& before, const Counts& now) const;
  void show_json(const std::vector<std::pair<std::uint64_t, std::size_t>>& rows,
                 double seconds) const;

  Session& session_;
  const ProbeTarget& target_;
  ThreadFilter threads_;
};

Result<void> Counting::begin(const ProbeFiles& files, const TemporaryProbes& probes,
                             const ProbeOptions& probe) {
  auto threads = filter_of(probe.pid);
  if (!threads) return threads.error();
  threads_ = std::move(threads.value());
  const std::string filter = threads_.terms.empty() ? "" : " if " + threads_.terms;
  std::string lines;
  for (std::size_t i = 0; i < target_.functions.size(); ++i) {
    lines += line_of('p', probes.name() + "/calls", target_.program.path,
                     target_.functions[i].offset, i);
  }
  if (const auto done = files.define(lines); !done) return done;
  return files.write(probes.event("calls") + "/trigger",
                     "hist:keys=f:size=" + std::to_string(kProbedMax) + filter);
}

Result<Counts> Counting::read(const ProbeFiles& files, const TemporaryProbes& probes) const {
  const auto json = files.histogram(probes.event("calls"));
  if (!json) return json.error();
  Counts counts{.calls = {}, .time_us = json.value().number_of("time_us")};
  if (const Json* const entries = json.value().find("entries")) {
    for (const Json& each : entries->items) {
      const Json* const key = each.find("key");
      if (key) counts.calls[key->number_of("f")] = each.number_of("hitcount");
    }
  }
  return counts;
}

void Counting::show_json(const std::vector<std::pair<std::uint64_t, std::size_t>>& rows,
                         double seconds) const {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().key("program").string(target_.program.path);
  writer.key("seconds").decimals(seconds, 6).key("functions").begin_array();
  for (const auto& [calls, at] : rows) {
    writer.begin_object().key("function").string(target_.functions[at].name());
    writer.key("calls").number(calls).end_object();
  }
  writer.end_array().end_object();
  print(text.append("\n"));
}

void Counting::show(const Counts& before, const Counts& now) const {
  std::vector<std::pair<std::uint64_t, std::size_t>> rows;
  for (std::size_t i = 0; i < target_.functions.size(); ++i) {
    const auto at = now.calls.find(i), old = before.calls.find(i);
    const std::uint64_t calls =
        (at == now.calls.end() ? 0 : at->second) - (old == before.calls.end() ? 0 : old->second);
    if (calls != 0 || session_.options.all) rows.emplace_back(calls, i);
  }
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.first > b.first; });
  const double seconds = static_cast<double>(now.time_us - before.time_us) / 1e6;
  if (session_.options.json) return show_json(rows, seconds);
  view::Table table(session_.look);
  table.add_column("FUNCTION", view::Align::kLeft);
  table.add_column("CALLS");
  table.add_column("CALLS/S");
  table.add_column("A HIT", view::Align::kLeft);
  const std::size_t most = rows_shown(session_.options, rows.size());
  for (std::size_t i = 0; i < rows.size() && i < most; ++i) {
    const auto& function = target_.functions[rows[i].second];
    table.add_row({function.name(), view::grouped_text(rows[i].first),
                   view::rate_text(static_cast<double>(rows[i].first) / seconds),
                   word_of(function.cost)});
  }
  view::Grid grid = session_.grid();
  table.draw(grid);
  if (rows.empty()) grid.put_line("none of them was called", {view::Tone::kDim});
  put_rows_left_out(grid, rows.size(), most);
  print(grid, session_.terminal);
}

int Counting::run(ProbeOptions& probe) {
  ProbePace pace(session_.options, probe);
  const auto files = ProbeFiles::open(session_.source->mount(), ProbeFiles::For::kWriting);
  if (!files) return complain(files.error());
  auto probes = TemporaryProbes::open(files.value());
  if (!probes) return complain(probes.error());
  if (const auto begun = begin(files.value(), probes.value(), probe); !begun) {
    return complain(kRefused, begun.error().reason);
  }
  // What came while functions were switched on, one after another, is of no interval.
  auto first = read(files.value(), probes.value());
  if (!first) return complain(first.error());
  Counts before = std::move(first.value());
  pace.begin(target_);
  while (const auto step = pace.next()) {
    const auto now = read(files.value(), probes.value());
    if (!now) return complain(now.error());
    if (*step != ProbePace::Step::kEnd) show(before, now.value());
    before = now.value();
  }
  note_new_threads(probe, threads_);
  return end_run(probes.value(), probe);
}

}  // namespace

int run_probe_count(int argc, char** argv) {
  Session session;
  ProbeOptions probe;
  CommandLine line = command_line(kProbeCountText, session.options);
  add_probe_options(line, probe, session.options);
  line.add_arguments("PROGRAM", session.options.words,
                     "a path, a name of $PATH, a PID or a library; then FUNCTIONs: names, patterns",
                     {.least = 2});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  const auto target = find_target(session.options.words, probe, Returns::kNone);
  if (!target) return complain(kRefused, target.error().reason);
  return Counting(session, target.value()).run(probe);
}

}  // namespace tallyfs
