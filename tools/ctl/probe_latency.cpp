// tallyctl probe latency: how long functions take. Two events, of the entries and of the returns of
// all functions, are joined by thread and function in an instance of the command's own; what comes
// of it is a synthetic event with a histogram. Empty functions of this program are timed with them:
// the floor of what can be measured.
//
// With --recursive the stack pointer is a key, too, so that calls within each other are told apart.
// On x86-64 a return has taken its address off the stack: the pointer is 8 more than at the entry.
// Keys are fields, so that the returns become a synthetic event that has it as at the entry.
//
// Longer than most: the lines and triggers of a run, and the tables that are read of them.
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/nearest.h"
#include "tools/ctl/commands.h"
#include "tools/ctl/probe.h"
#include "tools/ctl/probe_files.h"
#include "tools/ctl/probe_latencies.h"
#include "tools/ctl/probe_target.h"
#include "tools/ctl/probed_code.h"
#include "tools/display/table.h"

namespace tallyfs {
namespace {

constexpr CommandText kProbeLatencyText = {
    "probe latency", "Times functions of a program, the slowest first, until Ctrl-C; as root.",
    "  tallyctl probe latency bash '*' --for 10s       the slowest functions of a program\n"
    "  tallyctl probe latency 4711 'Log::write' --every 1s\n"
    "  tallyctl probe latency libc.so.6 read --by 'size=$arg3'\n"
    "  tallyctl probe latency bash 'execute_*' --recursive"};

constexpr int kFloorCalls = 500;
constexpr std::size_t kEntriesMax = 131'072;
constexpr const char* kLeaveExpiry = "10ms";
#if defined(__x86_64__)
constexpr const char* kEntryStack = "sp-8";
#else
constexpr const char* kEntryStack = "sp-0";
#endif
constexpr std::size_t kUnsafeShown = 5;

struct By {
  std::string name, fetch;  // both empty: there is none

  // A field of the synthetic event.
  std::string field() const {
    const std::size_t at = fetch.rfind(':');
    std::string type = at == fetch.npos ? "" : fetch.substr(at + 1);
    if (type.ends_with("string")) return "char[] " + name;
    // A field has the type of what is saved for it; hexadecimal ones are unsigned.
    if (type.starts_with('x')) type.front() = 'u';
    static constexpr std::array<std::string_view, 8> kNumbers = {"u8", "u16", "u32", "u64",
                                                                 "s8", "s16", "s32", "s64"};
    const bool is_number = std::ranges::count(kNumbers, type) != 0;
    return (is_number ? type : "u64") + " " + name;
  }
  // Such a fetch is for functions by name, not by place.
  bool is_of_name() const { return fetch.find("$arg") != fetch.npos; }
};

// `NAME=FETCH`, or the fetch alone.
By by_of(const std::string& word) {
  if (word.empty()) return {};
  const std::size_t at = word.find('=');
  if (at == word.npos) return {"by", word};
  return {word.substr(0, at), word.substr(at + 1)};
}

// Names of several places, as static functions of several files have them.
std::optional<std::string> name_of_several(const ProbeTarget& target) {
  std::set<std::string_view> names;
  for (const auto& each : target.functions) {
    if (!names.insert(each.symbol).second) return each.symbol;
  }
  return std::nullopt;
}

struct TimingOptions {
  By by;
  std::string longest;
  bool is_recursive = false;
};

// An empty function of this program, whose times are those of the probes.
struct Floor {
  ProbedKind kind;
  CodePlace place;
  ProbeLatencies::Row row = {};
};

class Timing {
 public:
  Timing(Session& session, const ProbeTarget& target, TimingOptions options)
      : session_(session), target_(target), options_(std::move(options)), by_(options_.by) {}

  int run(ProbeOptions& probe);

 private:
  // The functions by their whole time.
  using Rows = std::vector<std::pair<ProbeLatencies::Key, const ProbeLatencies::Row*>>;

  Result<void> begin(const ProbeFiles& files, const TemporaryProbes& probes,
                     const ProbeOptions& probe);
  Result<void> set_triggers(const ProbeFiles& files, const TemporaryProbes& probes) const;
  std::string lines(const std::string& name) const;
  std::string filter() const;
  void find_floors();
  void call_floors() const;
  void put_floors(view::Grid& grid, const Rows& rows) const;
  Result<ProbeLatencies> read(const ProbeFiles& files, const TemporaryProbes& probes) const;
  Rows rows_of(const ProbeLatencies& latencies) const;
  void show(const ProbeLatencies& latencies, double seconds) const;
  void show_table(view::Grid& grid, const Rows& rows, double seconds) const;
  void show_json(const Rows& rows, double seconds) const;
  // What is known at the end of calls that are in no table.
  struct Untimed {
    std::uint64_t begun = 0;    // calls, also those that are timed
    std::uint64_t dropped = 0;  // there was no room for their entries, or for their returns
  };
  static Untimed untimed(const ProbeFiles& files, const TemporaryProbes& probes);
  void note_missing(const Untimed& untimed, const ProbeOptions& probe,
                    const ProbeLatencies& all) const;
  std::string time_text(std::uint64_t ns) const;
  std::size_t floor_number() const { return target_.functions.size(); }

  Session& session_;
  const ProbeTarget& target_;
  const TimingOptions options_;
  const By& by_;
  std::vector<Floor> floors_;  // numbered after the functions
  ThreadFilter threads_;
};

std::string Timing::lines(const std::string& name) const {
  std::string text;
  const std::string stack = options_.is_recursive ? " sp=%sp:u64" : "";
  const std::string by = by_.name.empty() ? "" : " " + by_.name + "=" + by_.fetch;
  const bool is_named = by_.is_of_name();
  for (const char kind : {'p', 'r'}) {
    const std::string event = name + (kind == 'p' ? "/enter" : "/leave");
    const std::string more = stack + (kind == 'p' ? by : "");
    for (std::size_t i = 0; i < target_.functions.size(); ++i) {
      const auto& each = target_.functions[i];
      if (kind == 'p' && is_named) {
        text.append("p:").append(event).append(" ").append(target_.program.path).append(":");
        text.append(each.symbol).append(" f=\\").append(std::to_string(i)).append(":u32");
        text.append(more).append("\n");
      } else {
        text += line_of(kind, event, target_.program.path, each.offset, i, more);
      }
    }
    for (std::size_t i = 0; i < floors_.size(); ++i) {
      const CodePlace& place = floors_[i].place;
      text += line_of(kind, event, place.path, place.offset, floor_number() + i, stack);
    }
  }
  return text;
}

// Other processes of this program have floors of their own, and what this thread calls of the
// functions themselves is not asked for.
std::string Timing::filter() const {
  const std::string& terms = threads_.terms;
  if (floors_.empty()) return terms.empty() ? "" : " if " + terms;
  const std::string floor = std::to_string(floor_number());
  const std::string own = "common_pid == " + std::to_string(::syscall(SYS_gettid));
  if (terms.empty()) return " if f < " + floor + " || " + own;
  return " if (" + terms + ") || (f >= " + floor + " && " + own + ")";
}

Result<void> Timing::begin(const ProbeFiles& files, const TemporaryProbes& probes,
                           const ProbeOptions& probe) {
  auto threads = filter_of(probe.pid);
  if (!threads) return threads.error();
  threads_ = std::move(threads.value());
  const std::string& name = probes.name();
  if (const auto done = files.define(lines(name)); !done) return done;
  std::vector<std::string> events = {"s:" + name + " u64 lat; u32 f"};
  if (!by_.name.empty()) events.front() += "; " + by_.field();
  if (options_.is_recursive) events.push_back("s:" + name + "_back s32 pid; u32 f; u64 sp");
  for (const std::string& each : events) {
    if (const auto done = files.write("dynamic_events", each); !done) return done;
  }
  return set_triggers(files, probes);
}

// Entries of returns serve no longer than their record: others take their places.
Result<void> Timing::set_triggers(const ProbeFiles& files, const TemporaryProbes& probes) const {
  const bool has_by = !by_.name.empty();
  const std::string& name = probes.name();
  const std::string size = ":size=" + std::to_string(kEntriesMax);
  const std::string of_return = std::string(":expire=") + kLeaveExpiry + size;
  const std::string match = ":lat=common_timestamp-$ts:onmatch(" + name + ".enter).trace(" + name +
                            ",$lat,f" + (has_by ? ",$x)" : ")") + of_return;
  std::vector<std::pair<std::string, std::string>> triggers = {
      {probes.synthetic(), std::string("hist:keys=f") + (has_by ? "," + by_.name : "") + "," +
                               kLatencyGroups + ":vals=lat,lat.max" + size},
      {probes.event("enter"), std::string("hist:keys=common_pid,f") +
                                  (options_.is_recursive ? ",sp" : "") + ":ts=common_timestamp" +
                                  (has_by ? ",x=" + by_.name : "") +
                                  ":expire=" + options_.longest + size + filter()}};
  if (options_.is_recursive) {
    triggers.emplace_back(probes.synthetic() + "_back", "hist:keys=pid,f,sp" + match);
    // A time is always more than the one before: each return is passed on.
    triggers.emplace_back(probes.event("leave"),
                          std::string("hist:keys=common_pid,f:s=") + kEntryStack +
                              ",t=common_timestamp:onmax($t).trace(" + name +
                              "_back,common_pid,f,$s)" + of_return + filter());
  } else {
    triggers.emplace_back(probes.event("leave"), "hist:keys=common_pid,f" + match + filter());
  }
  for (const auto& [event, trigger] : triggers) {
    if (const auto done = files.write(event + "/trigger", trigger); !done) return done;
  }
  return {};
}

// The first and the last kind: one whose hit is cheap, and one whose hit is dear. None while
// `probe cost` measures the same functions.
void Timing::find_floors() {
  const auto& kinds = probed_kinds();
  if (!by_.name.empty() || kinds.empty()) return;
  for (const ProbedKind& kind : {kinds.front(), kinds.back()}) {
    if (auto place = place_of(kind.code)) floors_.push_back({kind, std::move(*place)});
  }
}

void Timing::call_floors() const {
  for (const Floor& each : floors_) {
    volatile ProbedCode code = each.kind.code;
    for (int i = 0; i < kFloorCalls; ++i) code();
  }
}

Result<ProbeLatencies> Timing::read(const ProbeFiles& files, const TemporaryProbes& probes) const {
  const auto json = files.histogram(probes.synthetic());
  if (!json) return json.error();
  return ProbeLatencies::read(json.value(), by_.name);
}

Timing::Rows Timing::rows_of(const ProbeLatencies& latencies) const {
  Rows rows;
  for (const auto& [key, row] : latencies.rows()) {
    if (key.first < floor_number()) rows.emplace_back(key, &row);
  }
  std::ranges::stable_sort(
      rows, [](const auto& a, const auto& b) { return a.second->sum > b.second->sum; });
  return rows;
}

std::string Timing::time_text(std::uint64_t ns) const {
  return view::number_text(static_cast<double>(ns), view::quantity_of_x("nanoseconds/calls"),
                           session_.look.exact ? view::Digits::kAll : view::Digits::kThree,
                           session_.terminal.charset);
}

constexpr std::array<std::pair<const char*, double>, 4> kShares = {
    {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}}};

void Timing::show_json(const Rows& rows, double seconds) const {
  std::string text;
  JsonWriter writer(text);
  const auto write = [&](const ProbeLatencies::Row& row) {
    writer.key("calls").number(row.count).key("total_ns").number(row.sum);
    for (const auto& [name, share] : kShares) {
      writer.key(std::string(name) + "_ns").number(row.percentile(share));
    }
    writer.key("max_ns").number(row.max()).end_object();
  };
  writer.begin_object().key("program").string(target_.program.path);
  writer.key("seconds").decimals(seconds, 6).key("functions").begin_array();
  for (const auto& [key, row] : rows) {
    writer.begin_object().key("function").string(target_.functions[key.first].name());
    if (!by_.name.empty()) writer.key(by_.name).string(key.second);
    write(*row);
  }
  writer.end_array();
  for (std::size_t i = 0; i < floors_.size(); ++i) {
    if (floors_[i].row.count == 0) continue;
    writer.key(i == 0 ? "floor" : "floor_dear").begin_object();
    write(floors_[i].row);
  }
  writer.end_object();
  print(text.append("\n"));
}

void Timing::show_table(view::Grid& grid, const Rows& rows, double seconds) const {
  view::Table table(session_.look);
  table.add_column("FUNCTION", view::Align::kLeft);
  if (!by_.name.empty()) table.add_column(by_.name);
  for (const char* const each : {"CALLS", "CALLS/S", "TOTAL"}) table.add_column(each);
  for (const auto& [name, share] : kShares) table.add_column(name);
  table.add_column("max");
  table.add_column("A HIT", view::Align::kLeft);
  const std::size_t most = rows_shown(session_.options, rows.size());
  for (std::size_t i = 0; i < rows.size() && i < most; ++i) {
    const auto& [key, row] = rows[i];
    std::vector<std::string> cells = {target_.functions[key.first].name()};
    if (!by_.name.empty()) cells.push_back(key.second);
    cells.push_back(view::grouped_text(row->count));
    cells.push_back(view::rate_text(static_cast<double>(row->count) / seconds));
    cells.push_back(time_text(row->sum));
    for (const auto& [name, share] : kShares) cells.push_back(time_text(row->percentile(share)));
    cells.push_back(time_text(row->max()));
    cells.push_back(word_of(target_.functions[key.first].cost));
    table.add_row(std::move(cells));
  }
  table.draw(grid);
  put_rows_left_out(grid, rows.size(), most);
}

void Timing::put_floors(view::Grid& grid, const Rows& rows) const {
  const bool has_dear = std::ranges::any_of(rows, [this](const auto& row) {
    return target_.functions[row.first.first].cost == tracing::HitCost::kStepped;
  });
  std::string text;
  for (std::size_t i = 0; i < floors_.size(); ++i) {
    const auto& row = floors_[i].row;
    if (row.count == 0 || (i > 0 && !has_dear)) continue;
    text.append(text.empty() ? "an empty function, " : "; ").append(i == 0 ? "cheap" : "dear");
    text.append(": p50 ").append(time_text(row.percentile(0.5)));
    text.append(", p99 ").append(time_text(row.percentile(0.99)));
  }
  if (text.empty()) return;
  grid.put_line(text, {view::Tone::kDim});
  grid.put_line("each time has this in it, and that of the probed calls within",
                {view::Tone::kDim});
}

void Timing::show(const ProbeLatencies& latencies, double seconds) const {
  const Rows rows = rows_of(latencies);
  if (session_.options.json) return show_json(rows, seconds);
  view::Grid grid = session_.grid();
  if (rows.empty()) {
    grid.put_line("no call has begun and returned", {view::Tone::kDim});
  } else {
    show_table(grid, rows, seconds);
  }
  if (!rows.empty()) put_floors(grid, rows);
  print(grid, session_.terminal);
}

// Read before the times: a call that ends meanwhile is timed, and not counted as untimed.
Timing::Untimed Timing::untimed(const ProbeFiles& files, const TemporaryProbes& probes) {
  Untimed read;
  const auto entries = files.histogram(probes.event("enter"));
  const auto returns = files.histogram(probes.event("leave"));
  if (entries) read.begun = entries.value().number_of("hits");
  if (entries) read.dropped = entries.value().number_of("dropped");
  if (returns) read.dropped += returns.value().number_of("dropped");
  // Dropped entries are no hits.
  if (entries) read.begun += entries.value().number_of("dropped");
  return read;
}

void Timing::note_missing(const Untimed& untimed, const ProbeOptions& probe,
                          const ProbeLatencies& all) const {
  const std::uint64_t known = all.count() + all.dropped() + untimed.dropped;
  if (untimed.begun > known) {
    (void)complain(kDone, std::to_string(untimed.begun - known) +
                              " calls are not timed: they have not returned yet, took longer than "
                              "--longest, or called the same function again" +
                                  (options_.is_recursive ? "" : ": --recursive times those"));
  }
  if (untimed.dropped != 0) {
    (void)complain(kDone, std::to_string(untimed.dropped) +
                              " calls are not timed: too many threads called too many functions; "
                              "name fewer functions, or a shorter --longest");
  }
  if (all.dropped() != 0) {
    (void)complain(kDone, std::to_string(all.dropped()) +
                              " calls are not timed: there are too many different times");
  }
  if (!target_.unsafe.empty()) {
    std::vector<std::string> first = target_.unsafe;
    if (first.size() > kUnsafeShown) {
      first.resize(kUnsafeShown);
      first.push_back(std::to_string(target_.unsafe.size() - kUnsafeShown) + " others");
    }
    (void)complain(
        kDone, "not timed, since a probe of the return would crash the program: " + listed(first));
  }
  note_new_threads(probe, threads_);
}

int Timing::run(ProbeOptions& probe) {
  const Fd shared = lock_probed_code(LOCK_SH);
  if (shared.valid()) find_floors();
  ProbePace pace(session_.options, probe);
  const auto files = ProbeFiles::open(session_.source->mount(), ProbeFiles::For::kWriting);
  if (!files) return complain(files.error());
  auto opened = TemporaryProbes::open(files.value());
  if (!opened) return complain(opened.error());
  TemporaryProbes& probes = opened.value();
  if (const auto begun = begin(files.value(), probes, probe); !begun) {
    return complain(kRefused, begun.error().reason);
  }
  // What came while functions were switched on, one after another, is of no interval.
  auto first = read(files.value(), probes);
  if (!first) return complain(first.error());
  ProbeLatencies before = std::move(first.value());
  call_floors();
  pace.begin(target_);
  while (const auto step = pace.next()) {
    const bool is_end = *step != ProbePace::Step::kInterval;
    const Untimed missing = is_end ? untimed(files.value(), probes) : Untimed{};
    auto now = read(files.value(), probes);
    if (!now) return complain(now.error());
    for (std::size_t i = 0; i < floors_.size(); ++i) {
      const auto row = now.value().rows().find({floor_number() + i, ""});
      if (row != now.value().rows().end()) floors_[i].row = row->second;
    }
    const std::uint64_t passed_us = now.value().time_us() - before.time_us();
    if (*step != ProbePace::Step::kEnd) {
      show(now.value().since(before), static_cast<double>(passed_us) / 1e6);
    }
    if (is_end) note_missing(missing, probe, now.value());
    before = std::move(now.value());
  }
  return end_run(probes, probe);
}

}  // namespace

int run_probe_latency(int argc, char** argv) {
  Session session;
  ProbeOptions probe;
  std::string by;
  TimingOptions timing{.by = {}, .longest = "60s"};
  CommandLine line = command_line(kProbeLatencyText, session.options);
  add_probe_options(line, probe, session.options);
  line.add({.names = "--by",
            .variable = &by,
            .value = "X=FETCH",
            .text = "a row for each value of this argument: 'size=$arg3', 'fd=$arg1:s32', "
                    "'path=+0($arg1):ustring'",
            .shown = Option::Default::kHidden});
  line.add({.names = "--longest",
            .variable = &timing.longest,
            .value = "TIME",
            .text = "a call that takes longer is forgotten",
            .check = FindFault(fault_of_period)});
  line.add_flag("--recursive", timing.is_recursive, "calls within calls of the same function, too");
  line.add_flag("--exact", session.options.exact, "all digits, in nanoseconds");
  line.add_flag("--force", probe.is_forced, "also where exceptions may pass the functions");
  line.add_arguments("PROGRAM", session.options.words,
                     "a path, a name of $PATH, a PID or a library; then FUNCTIONs: names, patterns",
                     {.least = 2});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (const auto status = session.open()) return *status;
  const auto target = find_target(session.options.words, probe, Returns::kProbed);
  if (!target) return complain(kRefused, target.error().reason);
  timing.by = by_of(by);
  if (timing.by.is_of_name()) {
    if (const auto name = name_of_several(target.value())) {
      return complain(kRefused, *name +
                                    " has several places, which --by with $arg cannot tell "
                                    "apart: name other functions, or omit --by");
    }
  }
  // The trigger's words are of whole units.
  timing.longest = std::to_string(parse_period(timing.longest).count()) + "us";
  return Timing(session, target.value(), std::move(timing)).run(probe);
}

}  // namespace tallyfs
