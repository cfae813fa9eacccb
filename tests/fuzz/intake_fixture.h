// The daemon's side of the socket on a fixture, as far as bytes decide: all branches with small
// quotas, the dispatcher, and a bound peer that takes its responses. Confined to one thread.
//
// To make all of it takes a hundred times as long as to carry out an input. So one fixture serves
// kInputs inputs: check_end() takes away what an input has made, and makes a branch anew that an
// input has changed otherwise.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/base/text.h"
#include "core/latency_hist/branch/latency_branch.h"
#include "core/statistics/branch/statistics_branch.h"
#include "core/stats3/branch/stats_branch.h"
#include "core/tracing/branch/tracing_branch.h"
#include "feeders/intake/dispatcher.h"
#include "tests/fuzz/fuzzed.h"
#include "tests/fuzz/on_demand.h"
#include "tests/unit/fake_clock.h"

namespace tallyfs::fuzz {

using latency_hist::LatencyBranch, statistics::StatisticsBranch;
using stats3::StatsBranch, tracing::TracingBranch;

inline constexpr uid_t kDaemonUid = 500;
inline constexpr std::size_t kTextBytes = 64u << 20;

// Processes 1 to 8 live until the input says otherwise.
class Processes final : public ProcessWatch {
 public:
  Result<void> watch(pid_t process, uid_t) override {
    if (ended_.contains(process)) return Error{ErrorCode::kNotFound, "no such process"};
    if (watched_.size() == 3 && !watched_.contains(process)) {
      return Error{ErrorCode::kNoSpace, "too many processes"};
    }
    watched_.insert(process);
    return {};
  }
  bool watches(pid_t process) const override { return watched_.contains(process); }
  void end(pid_t process) {
    watched_.erase(process);
    ended_.insert(process);
  }
  void begin_anew() {
    watched_.clear();
    ended_.clear();
  }

 private:
  std::set<pid_t> watched_;
  std::set<pid_t> ended_;
};

// Two sockets: the daemon's, and one bound to a name of the kernel's choice. Made once.
class Line {
 public:
  Line() {
    const sockaddr_un unnamed{.sun_family = AF_UNIX, .sun_path = {}};
    must(::bind(peer_.get(), reinterpret_cast<const sockaddr*>(&unnamed), sizeof(sa_family_t)) == 0,
         "bind");
    size_ = sizeof address_;
    must(::getsockname(peer_.get(), reinterpret_cast<sockaddr*>(&address_), &size_) == 0, "a name");
  }
  int daemon() const { return daemon_.get(); }
  int peer() const { return peer_.get(); }
  Origin origin(uid_t uid, pid_t pid) const {
    return {.pid = pid, .uid = uid, .address = address_, .address_size = size_};
  }

 private:
  Fd daemon_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  Fd peer_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address_{};
  socklen_t size_ = 0;
};

class KernelEventsAtWill final : public latency_hist::KernelSource {
 public:
  Result<void> want(const std::function<WantedEvents()>&, const CancellationToken&) override {
    return {};
  }
  void drain(const CancellationToken&) override {}
};

class EventsAtWill final : public tracing::EventSource {
 public:
  Result<void> want(const Wanted& wanted, const CancellationToken&) override {
    (void)wanted();
    return {};
  }
  void drain(const CancellationToken&) override {}
};

class IntakeFixture {
 public:
  enum class Pace { kAtOnce, kInTurns };
  // Whether there is an event of the kernel's from the start.
  enum class Offers { kNone, kKernelEvent };

 private:
  const Line& line_;
  const Offers offers_;

 public:
  // How many inputs a fixture serves.
  static constexpr unsigned kInputs = 1024;

  explicit IntakeFixture(const Line& line, Offers offers = Offers::kNone)
      : line_(line), offers_(offers), definition_(own_definition()) {}

  // The fixture of a target: another one when it has served its inputs.
  static IntakeFixture& next(std::unique_ptr<IntakeFixture>& fixture, const Line& line,
                             Offers offers = Offers::kNone) {
    if (fixture && fixture->is_spent()) {
      fixture->check_whole();
      fixture.reset();
    }
    if (!fixture) fixture = std::make_unique<IntakeFixture>(line, offers);
    return *fixture;
  }
  // The input may change the definitions of the daemon's own numbers, which cannot be taken back.
  void note_own() { is_own_named_ = true; }
  bool is_spent() const { return inputs_ >= kInputs; }

  // One datagram; whatever is answered is checked.
  void take(std::string_view bytes, uid_t uid, pid_t pid, Pace pace) {
    if (bytes.find(StatisticsBranch::kOwnName) != std::string_view::npos) note_own();
    // On the heap and no longer than it is, so that reading beyond its end is seen.
    std::vector<char> room(bytes.begin(), bytes.end());
    const Datagram datagram{.bytes = room, .origin = line_.origin(uid, pid)};
    dispatcher.begin(datagram, clock.now());
    const auto deadline = pace == Pace::kInTurns ? std::chrono::nanoseconds(0)
                                                 : clock.now().monotonic + std::chrono::hours(1);
    for (std::size_t turns = 0; !dispatcher.resume({deadline}); ++turns) {
      must(turns <= bytes.size(), "each turn gets on");
    }
    must(!dispatcher.is_busy(), "it is done");
    dispatcher.publish_counts(clock.now());
    (void)dispatcher.take_saturated();
    check_responses();
    if (events.is_changed()) enable_events();
  }
  void end_process(pid_t pid) {
    processes.end(pid);
    for (Branch* const branch : branches) branch->process_ended(pid, clock.now());
  }

  // What the input made reads, can be written back, and goes.
  void check_end() {
    check_log();
    if (latencies.is_changed()) check_latencies();
    check_interfaces();
    if (subsystems.is_changed()) check_stats();
    if (events.is_changed()) check_events();
    must(ledger.total().interfaces == 1, "the own interface is left");
    processes.begin_anew();
    inputs_ += 1;
    if (std::exchange(is_own_named_, false) && own_definition() != definition_) inputs_ = kInputs;
  }

  FakeClock clock{std::chrono::seconds(10)};
  // What files and what the tree keeps of them is of a ledger, which outlives the tree.
  // The daemon's own interface has more than 40 statistics.
  Ledger ledger{{.per_uid = {.interfaces = 8, .statistics = 48, .bytes = 1u << 20},
                 .total = {.interfaces = 12, .statistics = 72, .bytes = 2u << 20}}};
  Tree tree{clock.now()};
  Processes processes;
  std::vector<Switch> switches = std::vector<Switch>(80);
  std::unique_ptr<StatisticsBranch> statistics = std::make_unique<StatisticsBranch>(
      tree, ledger, kDaemonUid, clock.now(),
      BranchDependencies{.switches = {switches}, .processes = &processes});
  ErrorLog errors{clock.now()};
  std::vector<Switch> stats_switches = std::vector<Switch>(8);
  OnDemand<StatsBranch> subsystems{
      [this] {
        return std::make_unique<StatsBranch>(
            tree, ledger, kDaemonUid, clock.now(),
            BranchDependencies{
                .switches = {stats_switches, 80}, .processes = &processes, .errors = &errors});
      },
      [] {}};
  KernelEventsAtWill source;
  OnDemand<LatencyBranch> latencies{[this] { return make_latencies(); },
                                    [this] { tree.remove(latencies_node(), clock.now()); }};
  // Traces need more memory than the others may have, and as few interfaces.
  Ledger events_ledger{{.per_uid = {.interfaces = 8, .statistics = 40, .bytes = 256u << 20},
                        .total = {.interfaces = 12, .statistics = 64, .bytes = 1u << 30}}};
  Tree events_tree{clock.now()};
  std::vector<Switch> event_switches = std::vector<Switch>(8);
  EventsAtWill kernel_source;
  OnDemand<TracingBranch> events{[this] { return make_events(); }, [this] { forget_events(); }};
  const std::array<Branch*, 4> branches{statistics.get(), &subsystems, &latencies, &events};
  Dispatcher dispatcher{
      line_.daemon(),
      {.statistics = *statistics, .branches = branches, .errors = errors, .clock = clock}};

 private:
  // Everything in latency_hist is measured.
  std::unique_ptr<LatencyBranch> make_latencies() {
    auto made = std::make_unique<LatencyBranch>(
        tree, Tree::kRoot, ledger,
        LatencyBranch::Options{.cpus = 2, .owner = kDaemonUid, .source = &source}, clock.now());
    const auto enable = tree.lookup(latencies_node(), "enable").value();
    for (const NodeEntry& entry : tree.list(enable.id, 0, 100).value()) {
      must(tree.file(entry.info.id).value()->write_line("1", clock.now()).has_value(), "it is on");
    }
    first_fed_ = 0;
    for (const NodeEntry& own : tree.list(latencies_node(), 0, 100).value()) {
      first_fed_ = std::max(first_fed_, own.info.id + 1);
    }
    return made;
  }
  std::unique_ptr<TracingBranch> make_events() {
    auto made = std::make_unique<TracingBranch>(
        events_tree, Tree::kRoot, events_ledger,
        TracingBranch::Options{
            .tracing = {.owner = kDaemonUid},
            .dependencies = {.switches = {event_switches, 88}, .processes = &processes},
            .kernel = &kernel_source},
        clock.now());
    if (offers_ == Offers::kKernelEvent) offer_kernel_event(*made);
    return made;
  }
  // An event 375, as FORMAT.md's example has it but with a field, which a histogram and the trace
  // ask for.
  void offer_kernel_event(TracingBranch& made) {
    constexpr const char* kFormat =
        "name: x\nID: 375\nformat:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
        "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
        "\tfield:int v;\toffset:8;\tsize:4;\tsigned:1;\n";
    must(made.kernel()->offer({.id = 375, .system = "sched", .format = kFormat}, 0).has_value(),
         "offered");
    must(made.kernel()->take_offers(clock.now()) == 1, "an event");
    NodeId at = Tree::kRoot;
    for (const char* const name : {"events", "sched", "x"}) {
      events_tree.rules(at).value()->entered(clock.now());
      at = events_tree.lookup(at, name).value().id;
    }
    events_tree.rules(at).value()->entered(clock.now());
    const auto write = [&](const char* name, const char* text) {
      const auto node = events_tree.lookup(at, name).value();
      must(events_tree.file(node.id).value()->write_line(text, clock.now()).has_value(), text);
    };
    write("trigger", "hist:keys=v,common_comm,common_stacktrace");
    write("enable", "1");
  }
  void enable_events() {
    const NodeId node = events_tree.lookup(Tree::kRoot, "events").value().id;
    const auto file = events_tree.file(events_tree.lookup(node, "enable").value().id).value();
    must(file->write_line("1", clock.now()).has_value(), "events are enabled");
  }
  void forget_events() {
    for (const NodeEntry& entry : events_tree.list(Tree::kRoot, 0, 1000).value()) {
      events_tree.remove(entry.info.id, clock.now());
    }
  }
  NodeId latencies_node() { return tree.lookup(Tree::kRoot, "latency_hist").value().id; }

  void check_log() {
    const std::string log = errors.render(clock.now(), kTextBytes).value();
    for (const char c : log) must(c == '\n' || static_cast<unsigned char>(c) >= ' ', "escaped");
    must(log.size() <= ErrorLog::kEntries * 4096, "the log is bounded");
    errors.truncate(clock.now());
  }
  // All of it reads that has more than numbers, and what programs fed can be removed.
  void check_latencies() {
    const bool of_kernel = latencies.has_taken(kMessages<wire::KernelEvents>);
    for (const NodeEntry& directory : tree.list(latencies_node(), 0, 1000).value()) {
      must(is_name(directory.name), "only names come in");
      if (!of_kernel && directory.info.id < first_fed_) continue;
      for (const NodeEntry& entry : tree.list(directory.info.id, 0, 1000).value()) {
        const auto file = tree.file(entry.info.id);
        if (!file || (is_long(entry.name) && inputs_ % kInputsBetweenLongTexts != 0)) continue;
        if (entry.name.starts_with("CPU") || entry.name == "data") continue;  // nothing but numbers
        const auto text = file.value()->render(clock.now(), kTextBytes);
        must(text.has_value(), "it reads");
        for (const char c : text.value()) {
          must(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= ' ', "escaped");
        }
      }
      (void)latencies.made().remove_directory(directory.name, clock.now());
    }
    if (of_kernel) return latencies.renew();
    latencies.is_as_made();
  }
  static bool is_long(std::string_view name) {
    return !name.starts_with("max_latency") && name != "top";
  }
  void check_events() {
    const NodeId trace = events_tree.lookup(Tree::kRoot, "trace").value().id;
    (void)events_tree.file(trace).value()->render(clock.now(), kTextBytes).value();
    events.renew();
    must(events_ledger.total().interfaces == 0, "no events are left");
  }
  std::string own_definition() const {
    const NodeId branch = tree.lookup(Tree::kRoot, "statistics").value().id;
    const NodeId own = tree.lookup(branch, StatisticsBranch::kOwnName).value().id;
    const NodeId node = tree.lookup(own, "definition").value().id;
    return tree.file(node).value()->render(clock.now(), kTextBytes).value();
  }
  // All but the daemon's own.
  void check_interfaces() {
    const auto branch = tree.lookup(Tree::kRoot, "statistics").value();
    for (const NodeEntry& entry : tree.list(branch.id, 0, 1000).value()) {
      if (entry.name == StatisticsBranch::kOwnName || entry.info.kind == NodeKind::kFile) continue;
      must(is_name(entry.name), "only names come in");
      check_interface(entry);
      must(statistics->remove_interface(entry.name, clock.now()).has_value(), "it can be removed");
    }
  }
  // What no input touches, and that nothing stays behind.
  void check_whole() {
    const auto branch = tree.lookup(Tree::kRoot, "statistics").value();
    for (const NodeEntry& entry : tree.list(branch.id, 0, 1000).value()) {
      must(entry.name == StatisticsBranch::kOwnName, "nothing else is left");
      check_interface(entry);
    }
    must(statistics->remove_interface(StatisticsBranch::kOwnName, clock.now()).has_error(),
         "it cannot be removed");
    statistics.reset();
    must(tree.list(branch.id, 0, 10).has_error() || tree.list(branch.id, 0, 10).value().empty(),
         "no names are left");
  }
  void check_interface(const NodeEntry& entry) {
    const auto text = [&](const char* name) {
      const auto node = tree.lookup(entry.info.id, name).value();
      return tree.file(node.id).value()->render(clock.now(), kTextBytes).value();
    };
    const std::string before = text("definition");
    (void)text("data");
    const auto node = tree.lookup(entry.info.id, "definition").value();
    const auto file = tree.file(node.id).value();
    each_line(before, [&](std::string_view line) {
      must(file->write_line(line, clock.now()).has_value(), "what is read can be written back");
    });
    must(text("definition") == before, "what was read changes nothing");
  }
  // Every file of stats/ reads, and all of it goes.
  void check_stats() {
    const auto branch = tree.lookup(Tree::kRoot, "stats").value();
    for (const NodeEntry& subsystem : tree.list(branch.id, 0, 1000).value()) {
      if (subsystem.info.kind == NodeKind::kFile) {
        check_file(subsystem.info.id);
        continue;
      }
      for (const NodeEntry& file : tree.list(subsystem.info.id, 0, 1000).value()) {
        check_file(file.info.id);
        must(is_name(file.name), "only names come in");
      }
      must(subsystems.made().remove_subsystem(subsystem.name, clock.now()).has_value(),
           "it can go");
    }
    must(tree.list(branch.id, 0, 10).value().size() == 1, "templates alone is left");
    subsystems.renew();
  }
  void check_file(NodeId node) {
    const auto file = tree.file(node).value();
    file->opened(clock.now());
    const std::string text = file->render(clock.now(), kTextBytes).value();
    must(text.empty() || text.back() == '\n', "texts end with their last line");
  }
  void check_responses() {
    for (;;) {
      const ssize_t size = ::recv(line_.peer(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (size < 0) return;
      auto reader =
          wire::DatagramReader::open(std::span(buffer_).first(static_cast<std::size_t>(size)));
      must(reader.has_value(), "an answer is a datagram");
      must(reader.value().epoch() == dispatcher.epoch(), "of this epoch");
      while (const auto message = reader.value().next()) {
        must(message->has_value(), "of whole messages");
        must(std::holds_alternative<wire::Response>(message->value()), "that are answers");
      }
    }
  }

  static constexpr unsigned kInputsBetweenLongTexts = 512;

  unsigned inputs_ = 0;
  bool is_own_named_ = false;
  const std::string definition_;  // of the own interface, as it was made
  NodeId first_fed_ = 0;  // no directory of latency_hist/ that a program has fed is before it
  alignas(8) std::array<char, 64 * 1024> buffer_{};
};

}  // namespace tallyfs::fuzz
