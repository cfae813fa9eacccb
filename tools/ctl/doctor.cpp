// tallyctl doctor: looks for faults, of the machine, the mount, the daemon and its counts, and says
// what to do about each. 0 if there is none, 1 if there is, 3 if no mount answers.
#include <algorithm>
#include <chrono>

#include "tools/ctl/commands.h"
#include "tools/ctl/count_checks.h"
#include "tools/ctl/daemon_checks.h"
#include "tools/ctl/machine_checks.h"
#include "tools/ctl/probe_checks.h"
#include "tools/ctl/session.h"
#include "tools/ctl/show_past.h"
#include "tools/ctl/store_check.h"
#include "tools/display/table.h"
#include "tools/past/store.h"
#include "tools/past/store_log.h"
#include "tools/tree/mount_table.h"
#include "tools/tree/timed_file.h"

namespace tallyfs {
namespace {

constexpr CommandText kDoctorText = {
    "doctor", "Looks for faults, and says what to do about each; takes a second.",
    "  tallyctl doctor                            all that there is\n"
    "  tallyctl doctor --mount /run/tallyfs/mnt   of this mount\n"
    "  tallyctl doctor --json | jq .              for a script; the exit status tells, too"};

const char* word_of(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kWarning:
      return "WARN";
    case Level::kFailure:
      break;
  }
  return "FAIL";
}

view::Tone tone_of(Level level) {
  if (level == Level::kOk) return view::Tone::kGood;
  return level == Level::kWarning ? view::Tone::kWarning : view::Tone::kBad;
}

class Doctor {
 public:
  explicit Doctor(Session& session) : session_(session) {}

  int run() {
    add(check_fuse_device());
    add(check_fusermount());
    add(check_mounts(named_mount(session_.options.mount)));
    if (const auto status = session_.open()) {
      add({Level::kFailure, "mount", "none that can be looked at, see above",
           "of a service, journalctl -u tallyfs says why; else tallyfs MOUNTPOINT, or --mount "
           "PATH"});
      print_findings();
      return *status;
    }
    const int status = look_at_daemon();
    print_findings();
    return status;
  }

 private:
  int look_at_daemon() {
    const auto start = std::chrono::steady_clock::now();
    const auto before = read_tree(*session_.source);
    if (!before) return no_answer(before.error());
    const auto took = std::chrono::steady_clock::now() - start;
    const std::string millis = view::number_text(
        std::chrono::duration<double, std::milli>(took).count(),
        view::quantity_of_x("milliseconds/reads"), view::Digits::kThree, view::Charset::kAscii);
    const view::Tree& tree = before.value();
    add({Level::kOk, "mount",
         session_.source->mount() + ", tallyfs " + tree.version + ", epoch " + tree.epoch +
             ", answers in " + millis,
         ""});
    add(check_rights(session_.source->mount()));
    add(check_versions(tree, TALLYFS_VERSION, installed_libtally()));
    add(check_program(tree));
    add(check_socket(tree));
    add(check_named_socket(tree));
    add(check_queue(tree));
    add(check_tracefs(tree));
    add_probes(tree);
    add(check_memory(tree));
    add(check_quotas(tree));
    add(check_clock());
    const std::string store = past::store_named("");
    add(check_store(store, tree.realtime_us, session_.options.utc));
    add(check_changed(store, tree.realtime_us, session_.look));
    return look_again(tree);
  }

  // Makes the checks that need two snapshots.
  int look_again(const view::Tree& before) {
    const auto own_before = read_interface(*session_.source, "tallyfs");
    if (!own_before) return no_answer(own_before.error());
    const auto feeders_before = counting_feeders(before);
    const std::string store = past::store_named("");
    const auto held_before = past::log_holders(store);
    const auto next = session_.source->next(session_.options.period());
    if (!next) return no_answer(next.error());
    const auto now = read_tree(*session_.source);
    if (!now) return no_answer(now.error());
    const auto own = read_interface(*session_.source, "tallyfs");
    if (!own) return no_answer(own.error());
    add(check_store_log(store, held_before));
    add(check_feeders(before, now.value()));
    add_timer_names(now.value());
    add_units(now.value());
    const auto passed = [](std::uint64_t from, std::uint64_t to) {
      return static_cast<std::int64_t>(to) - static_cast<std::int64_t>(from);
    };
    add(check_jump(passed(before.realtime_us, now.value().realtime_us) -
                   passed(before.time_us, now.value().time_us)));
    const auto log = read_in_time(session_.source->mount() + "/tracing/error_log");
    const std::string entries = log ? log.value() : std::string();
    add(check_state(own.value()));
    add(check_lanes(own_before.value(), own.value(), entries));
    add(check_counts(own_before.value(), own.value(), entries));
    add_feeder_counts(feeders_before);
    const bool is_well = std::ranges::all_of(
        findings_, [](const Finding& each) { return each.level == Level::kOk; });
    return is_well ? kDone : kRefused;
  }

  // The interfaces of feeders that count the lines that they could not accept.
  std::vector<view::Interface> counting_feeders(const view::Tree& tree) {
    std::vector<view::Interface> found;
    for (const char* const name : {"tally-feed-log", "tally-feed-statsd"}) {
      if (std::ranges::count(tree.interfaces, name, &view::InterfaceSummary::name) == 0) continue;
      auto feeder = read_interface(*session_.source, name);
      if (feeder) found.push_back(std::move(feeder.value()));
    }
    return found;
  }

  void add_feeder_counts(const std::vector<view::Interface>& before) {
    for (const view::Interface& each : before) {
      const auto now = read_interface(*session_.source, each.name);
      if (now) add(check_feeder_counts(each, now.value()));
    }
  }

  // Adds nothing where the mount has no probes.json.
  void add_probes(const view::Tree& tree) {
    const auto files = ProbeFiles::open(session_.source->mount(), ProbeFiles::For::kReading);
    const auto known = files ? listed_probes(files.value()) : files.error();
    if (known) add(check_probes(tree, known.value(), orphaned_probes()));
  }

  void add_timer_names(const view::Tree& tree) {
    const bool is_there =
        std::ranges::count(tree.interfaces, "timer", &view::InterfaceSummary::name) != 0;
    if (!is_there) return;
    const auto timer = read_interface(*session_.source, "timer");
    if (timer) add(check_timer_names(timer.value(), session_.source->mount()));
  }

  // Adds findings about the package's units, if the daemon is that of the package's service.
  void add_units(const view::Tree& tree) {
    if (session_.source->mount() != kServiceMount) return;
    for (const char* const prefix : {"/usr", "/usr/local"}) add(check_units(tree, prefix, ""));
  }

  int no_answer(const Error& error) {
    add({Level::kFailure, "mount", error.reason, advice_for(error.code)});
    return kNoAnswer;
  }

  static std::string advice_for(ErrorCode code) {
    if (code == ErrorCode::kNoAccess) return "look as the user who mounted, or as one of --group";
    if (code == ErrorCode::kNotFound) {
      return "start tallyfs there; if one is mounted, mount the whole tree, without --subtree";
    }
    if (code == ErrorCode::kNoDevice)
      return "fusermount3 -u -z MOUNTPOINT, then start tallyfs anew";
    return "the daemon's log (journalctl -u tallyfs) may say why";
  }

  void add(Finding finding) { findings_.push_back(std::move(finding)); }
  void add(Findings findings) {
    for (Finding& each : findings) findings_.push_back(std::move(each));
  }

  void print_findings() const {
    if (session_.options.json) return print_json();
    view::Grid grid = session_.grid();
    constexpr int kCheck = 6;
    int text = kCheck;
    for (const Finding& each : findings_) {
      text = std::max(text, kCheck + static_cast<int>(each.check.size()) + 2);
    }
    for (const Finding& each : findings_) {
      const int row = grid.height();
      grid.put(row, 0, word_of(each.level), {tone_of(each.level)});
      grid.put(row, kCheck, each.check);
      put_wrapped(grid, row, text, each.text, {});
      if (each.advice.empty()) continue;
      constexpr std::string_view kDo = "do: ";
      const int advice = grid.put(grid.height(), text, kDo, {view::Tone::kBold});
      put_wrapped(grid, grid.height() - 1, advice, each.advice, {view::Tone::kBold});
    }
    print(grid, session_.terminal);
  }

  // From the column on, in as many rows as it needs.
  static void put_wrapped(view::Grid& grid, int row, int column, const std::string& text,
                          view::Style style) {
    for (const auto& line : view::wrapped(text, grid.width() - column, grid.charset())) {
      grid.put(row++, column, line, style);
    }
  }

  void print_json() const {
    std::string text;
    JsonWriter writer(text);
    writer.begin_object().key("checks").begin_array();
    for (const Finding& each : findings_) {
      writer.begin_object().key("check").string(each.check);
      writer.key("level").string(word_of(each.level)).key("text").string(each.text);
      writer.key("do").string(each.advice).end_object();
    }
    writer.end_array().end_object();
    print(text.append("\n"));
  }

  Session& session_;
  Findings findings_;
};

}  // namespace

int run_doctor(int argc, char** argv) {
  Session session;
  CommandLine line = command_line(kDoctorText, session.options);
  if (const auto status = line.parse(argc, argv)) return *status;
  return Doctor(session).run();
}

}  // namespace tallyfs
