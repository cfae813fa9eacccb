// tallyctl probe cost: what a hit costs here. Functions of this program that do nothing are called
// in a loop, bare and probed, in turn; times are CPU times of this thread, of the best of several
// rounds, so that other work on the machine counts little.
#include <sys/file.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "tools/ctl/commands.h"
#include "tools/ctl/probe.h"
#include "tools/ctl/probe_files.h"
#include "tools/ctl/probe_interrupts.h"
#include "tools/ctl/probe_target.h"
#include "tools/ctl/probed_code.h"
#include "tools/ctl/temporary_probes.h"
#include "tools/display/table.h"

namespace tallyfs {
namespace {

constexpr CommandText kProbeCostText = {
    "probe cost", "Measures what a probe's hit costs a program on this machine; as root.",
    "  tallyctl probe cost              takes some seconds\n"
    "  tallyctl probe cost --exact      all digits\n"
    "  tallyctl probe cost --json       for a script"};

constexpr int kBareCalls = 1'000'000;
constexpr int kProbedCalls = 5'000;
constexpr int kRounds = 9;
constexpr int kReadsMax = 50;
constexpr std::chrono::milliseconds kBetweenReads{100};

std::uint64_t thread_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Of the best round, for one call.
double ns_of_a_call(ProbedCode function, int calls) {
  volatile ProbedCode code = function;
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t begin = thread_ns();
    for (int i = 0; i < calls; ++i) code();
    const double each = static_cast<double>(thread_ns() - begin) / calls;
    if (round == 0 || each < best) best = each;
  }
  return best;
}

class Cost {
 public:
  Cost(Session& session, ProbeInterrupts& interrupts)
      : session_(session), interrupts_(interrupts) {}

  int run();

 private:
  struct Row {
    std::string name, text;
    double bare_ns = 0, hit_ns = 0;
    std::uint64_t calls = 0, hits = 0;
  };
  // Which probes are on while it is measured.
  enum class On { kEntry, kReturn, kBoth };

  Result<void> measure_all(const ProbeFiles& files, const TemporaryProbes& probes);
  Result<void> measure(const ProbeFiles& files, const TemporaryProbes& probes,
                       const ProbedKind& kind, On on);
  static Result<void> set(const ProbeFiles& files, const TemporaryProbes& probes,
                          const std::vector<std::string>& events, const std::string& before);
  // Reads until all are there: a read waits for a slow feeder for a while only.
  std::uint64_t hits(const ProbeFiles& files, const std::string& event, std::uint64_t calls);
  void show() const;
  void show_json() const;

  Session& session_;
  ProbeInterrupts& interrupts_;
  std::vector<Row> rows_;
};

Result<void> Cost::set(const ProbeFiles& files, const TemporaryProbes& probes,
                       const std::vector<std::string>& events, const std::string& before) {
  for (const std::string& each : events) {
    const auto done = files.write(probes.event(each) + "/trigger",
                                  before + "hist:keys=common_pid if common_pid == " +
                                      std::to_string(::syscall(SYS_gettid)));
    if (!done) return done;
  }
  return {};
}

std::uint64_t Cost::hits(const ProbeFiles& files, const std::string& event, std::uint64_t calls) {
  std::uint64_t hits = 0;
  for (int i = 0; i < kReadsMax && hits < calls; ++i) {
    if (i > 0 && interrupts_.wait(kBetweenReads)) break;
    const auto counted = files.histogram(event);
    if (counted) hits = counted.value().number_of("hits");
  }
  return hits;
}

Result<void> Cost::measure(const ProbeFiles& files, const TemporaryProbes& probes,
                           const ProbedKind& kind, On on) {
  const auto place = place_of(kind.code);
  if (!place) return invalid("this program's path has a : or a blank: copy it elsewhere");
  Row row{.name = kind.name, .text = kind.text};
  if (on == On::kReturn) {
    row.name = "return_" + row.name;
    row.text = std::string("return alone; ") + kind.name;
  } else if (on == On::kBoth) {
    row.name = "entry_and_return";
    row.text = "entry and return; emulated";
  }
  std::vector<std::string> events;
  if (on != On::kReturn) events.push_back(row.name + "_p");
  if (on != On::kEntry) events.push_back(row.name + "_r");
  for (const std::string& each : events) {
    const auto done = files.define(
        line_of(each.back(), probes.name() + "/" + each, place->path, place->offset, 0));
    if (!done) return done;
  }
  row.bare_ns = ns_of_a_call(kind.code, kBareCalls);
  if (const auto done = set(files, probes, events, ""); !done) return done;
  row.hit_ns = ns_of_a_call(kind.code, kProbedCalls) - row.bare_ns;
  row.calls = std::uint64_t{kProbedCalls} * kRounds;
  row.hits = hits(files, probes.event(events.front()), row.calls);
  rows_.push_back(std::move(row));
  return set(files, probes, events, "!");
}

Result<void> Cost::measure_all(const ProbeFiles& files, const TemporaryProbes& probes) {
  for (const On on : {On::kEntry, On::kReturn, On::kBoth}) {
    for (const ProbedKind& kind : probed_kinds()) {
      if (interrupts_.wait(std::chrono::nanoseconds(0))) return {};
      const bool is_wanted = on == On::kEntry || std::string_view(kind.name) == "emulated" ||
                             (on == On::kReturn && std::string_view(kind.name) == "stepped");
      if (!is_wanted) continue;
      if (const auto done = measure(files, probes, kind, on); !done) return done;
    }
  }
  return {};
}

void Cost::show_json() const {
  std::string text;
  JsonWriter writer(text);
  writer.begin_object().key("costs").begin_array();
  for (const Row& row : rows_) {
    writer.begin_object().key("probe").string(row.name).key("hit_ns").decimals(row.hit_ns, 1);
    writer.key("bare_ns").decimals(row.bare_ns, 1);
    writer.key("calls").number(row.calls).key("hits").number(row.hits).end_object();
  }
  writer.end_array().end_object();
  print(text.append("\n"));
}

void Cost::show() const {
  if (session_.options.json) return show_json();
  const auto time = [&](double ns) {
    return view::number_text(ns, view::quantity_of_x("nanoseconds/calls"),
                             session_.options.exact ? view::Digits::kAll : view::Digits::kThree,
                             session_.terminal.charset);
  };
  view::Table table(session_.look);
  table.add_column("PROBE", view::Align::kLeft);
  for (const char* const each : {"A HIT", "BARE CALL", "CALLS", "COUNTED"}) table.add_column(each);
  for (const Row& row : rows_) {
    table.add_row({row.text, time(row.hit_ns), time(row.bare_ns), view::grouped_text(row.calls),
                   view::grouped_text(row.hits)});
  }
  view::Grid grid = session_.grid();
  table.draw(grid);
  print(grid, session_.terminal);
}

int Cost::run() {
  if (probed_kinds().empty()) {
    return complain(kRefused, "probe cost knows no functions for this CPU: x86-64 and aarch64");
  }
  const Fd alone = lock_probed_code(LOCK_EX);
  if (!alone.valid()) {
    return complain(kRefused, "another tallyctl times the same functions: wait for its end");
  }
  const auto files = ProbeFiles::open(session_.source->mount(), ProbeFiles::For::kWriting);
  if (!files) return complain(files.error());
  auto probes = TemporaryProbes::open(files.value());
  if (!probes) return complain(probes.error());
  const auto done = measure_all(files.value(), probes.value());
  const auto ended = probes.value().end();
  if (!done) return complain(kRefused, done.error().reason);
  show();
  return ended ? kDone : complain(kRefused, ended.error().reason);
}

}  // namespace

int run_probe_cost(int argc, char** argv) {
  ProbeInterrupts interrupts;
  Session session;
  CommandLine line = command_line(kProbeCostText, session.options);
  line.add_flag("--exact", session.options.exact, "all digits, in nanoseconds");
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  return Cost(session, interrupts).run();
}

}  // namespace tallyfs
