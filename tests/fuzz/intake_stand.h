// The daemon's side of the socket on a test stand, as far as bytes decide: a whole statistics
// branch with small quotas, the dispatcher, and a bound peer that takes its answers. Confined to
// one thread.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/base/text.h"
#include "core/branch/latency_hist/latency_branch.h"
#include "core/branch/statistics/statistics_branch.h"
#include "core/branch/stats/stats_branch.h"
#include "core/branch/tracing/tracing_branch.h"
#include "feeders/intake/dispatcher.h"
#include "tests/fuzz/fuzzed.h"
#include "tests/unit/fake_clock.h"

namespace tallyfs::fuzz {

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

class KernelEventsAtWill final : public KernelSource {
 public:
  Result<void> want(const std::function<WantedEvents()>&, const CancellationToken&) override {
    return {};
  }
  void drain(const CancellationToken&) override {}
};

class EventsAtWill final : public EventSource {
 public:
  Result<void> want(const Wanted& wanted, const CancellationToken&) override {
    (void)wanted();
    return {};
  }
  void drain(const CancellationToken&) override {}
};

class IntakeStand {
  const Line& line_;

 public:
  enum class Pace { kAtOnce, kInTurns };

  // Everything in latency_hist is measured.
  explicit IntakeStand(const Line& line) : line_(line) {
    const auto enable = tree.lookup(latencies_node(), "enable").value();
    for (const NodeEntry& entry : tree.list(enable.id, 0, 100).value()) {
      must(tree.file(entry.info.id).value()->write_line("1", clock.now()).has_value(), "it is on");
    }
  }

  std::shared_ptr<File> traced(std::string_view name) const {
    return events_tree.file(events_tree.lookup(Tree::kRoot, name).value().id).value();
  }
  std::shared_ptr<File> events_file(std::string_view name) const {
    const NodeId node = events_tree.lookup(Tree::kRoot, "events").value().id;
    return events_tree.file(events_tree.lookup(node, name).value().id).value();
  }

  // One datagram; whatever is answered is checked.
  void take(std::string_view bytes, uid_t uid, pid_t pid, Pace pace) {
    // On the heap and no longer than it is, so that reading beyond its end is seen.
    std::vector<char> room(bytes.begin(), bytes.end());
    const Datagram datagram{.bytes = room, .origin = line_.origin(uid, pid)};
    dispatcher.begin(datagram, clock.now());
    const auto deadline = pace == Pace::kInTurns ? std::chrono::nanoseconds(0)
                                                 : clock.now().monotonic + std::chrono::hours(1);
    for (std::size_t turns = 0; !dispatcher.go_on({deadline}); ++turns) {
      must(turns <= bytes.size(), "each turn gets on");
    }
    must(!dispatcher.is_busy(), "it is done");
    dispatcher.publish_counts(clock.now());
    (void)dispatcher.take_saturated();
    check_answers();
    must(events_file("enable")->write_line("1", clock.now()).has_value(), "events are enabled");
  }
  // An event 375, as FORMAT.md's example has it but with a field, which a histogram and the trace
  // ask for.
  void offer_kernel_events() {
    constexpr const char* kFormat =
        "name: x\nID: 375\nformat:\n"
        "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
        "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
        "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
        "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
        "\tfield:int v;\toffset:8;\tsize:4;\tsigned:1;\n";
    must(events->kernel()->offer({.id = 375, .system = "sched", .format = kFormat}, 0).has_value(),
         "offered");
    must(events->kernel()->take_offers(clock.now()) == 1, "an event");
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
  void end_process(pid_t pid) {
    processes.end(pid);
    for (Branch* const branch : branches) branch->process_ended(pid, clock.now());
  }

  // Every interface reads, what it shows can be written back, and nothing stays behind.
  void check_end() {
    std::string log = errors.render(clock.now(), kTextBytes).value();
    for (const char c : log) must(c == '\n' || static_cast<unsigned char>(c) >= ' ', "escaped");
    must(log.size() <= ErrorLog::kEntries * 4096, "the log is bounded");
    check_latencies();
    const auto branch = tree.lookup(Tree::kRoot, "statistics").value();
    const auto entries = tree.list(branch.id, 0, 1000).value();
    for (const NodeEntry& entry : entries) check_interface(entry);
    for (const NodeEntry& entry : entries) {
      must(is_name(entry.name), "only names come in");
      const bool removed = statistics->remove_interface(entry.name, clock.now()).has_value();
      must(removed == (entry.name != StatisticsBranch::kOwnName), "all can be removed but one");
    }
    check_stats();
    (void)traced("trace")->render(clock.now(), kTextBytes).value();
    events.reset();
    must(events_ledger.total().interfaces == 0, "no events are left");
    const Holdings left = ledger.total();
    must(left.interfaces == 1, "the own interface is left");
    statistics.reset();
    must(tree.list(branch.id, 0, 10).has_error() || tree.list(branch.id, 0, 10).value().empty(),
         "no names are left");
  }

  FakeClock clock{std::chrono::seconds(10)};
  // What files and what the tree keeps of them is of a ledger, which outlives the tree.
  Ledger ledger{{.per_uid = {.interfaces = 8, .statistics = 40, .bytes = 1u << 20},
                 .total = {.interfaces = 12, .statistics = 64, .bytes = 2u << 20}}};
  Tree tree{clock.now()};
  Processes processes;
  std::vector<Switch> switches = std::vector<Switch>(80);
  std::unique_ptr<StatisticsBranch> statistics =
      std::make_unique<StatisticsBranch>(tree, ledger, kDaemonUid, clock.now(),
                                         Ports{.switches = {switches}, .processes = &processes});
  ErrorLog errors{clock.now()};
  std::vector<Switch> stats_switches = std::vector<Switch>(8);
  std::unique_ptr<StatsBranch> subsystems = std::make_unique<StatsBranch>(
      tree, ledger, kDaemonUid, clock.now(),
      Ports{.switches = {stats_switches, 80}, .processes = &processes, .errors = &errors});
  KernelEventsAtWill source;
  LatencyBranch latencies{
      tree, Tree::kRoot, ledger, {.cpus = 2, .owner = kDaemonUid, .source = &source}, clock.now()};
  // Traces need more memory than the others may have, and as few interfaces.
  Ledger events_ledger{{.per_uid = {.interfaces = 8, .statistics = 40, .bytes = 256u << 20},
                        .total = {.interfaces = 12, .statistics = 64, .bytes = 1u << 30}}};
  Tree events_tree{clock.now()};
  std::vector<Switch> event_switches = std::vector<Switch>(8);
  EventsAtWill kernel_source;
  std::unique_ptr<TracingBranch> events = std::make_unique<TracingBranch>(
      events_tree, Tree::kRoot, events_ledger,
      TracingBranch::Options{.tracing = {.owner = kDaemonUid},
                             .ports = {.switches = {event_switches, 88}, .processes = &processes},
                             .kernel = &kernel_source},
      clock.now());
  const std::array<Branch*, 4> branches{statistics.get(), subsystems.get(), &latencies,
                                        events.get()};
  Dispatcher dispatcher{
      line_.daemon(),
      {.statistics = *statistics, .branches = branches, .errors = errors, .clock = clock}};

 private:
  NodeId latencies_node() { return tree.lookup(Tree::kRoot, "latency_hist").value().id; }
  // All of it reads, and what programs fed can be removed.
  void check_latencies() {
    for (const NodeEntry& directory : tree.list(latencies_node(), 0, 1000).value()) {
      must(is_name(directory.name), "only names come in");
      for (const NodeEntry& entry : tree.list(directory.info.id, 0, 1000).value()) {
        const auto file = tree.file(entry.info.id);
        if (!file || entry.name.starts_with("CPU")) continue;  // long, and of numbers only
        const auto text = file.value()->render(clock.now(), kTextBytes);
        must(text.has_value(), "it reads");
        for (const char c : text.value()) {
          must(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= ' ', "escaped");
        }
      }
      (void)latencies.remove_directory(directory.name, clock.now());
    }
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
    for (std::string_view rest = before; !rest.empty();) {
      const std::string line(rest.substr(0, rest.find('\n')));
      rest.remove_prefix(line.size() + 1);
      must(file->write_line(line, clock.now()).has_value(), "what is read can be written back");
    }
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
      must(subsystems->remove_subsystem(subsystem.name, clock.now()).has_value(), "all can go");
    }
    must(tree.list(branch.id, 0, 10).value().size() == 1, "templates alone is left");
  }
  void check_file(NodeId node) {
    const auto file = tree.file(node).value();
    file->opened(clock.now());
    const std::string text = file->render(clock.now(), kTextBytes).value();
    must(text.empty() || text.back() == '\n', "texts end with their last line");
  }
  void check_answers() {
    for (;;) {
      const ssize_t size = ::recv(line_.peer(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (size < 0) return;
      auto reader =
          wire::DatagramReader::open(std::span(buffer_).first(static_cast<std::size_t>(size)));
      must(reader.has_value(), "an answer is a datagram");
      must(reader.value().epoch() == dispatcher.epoch(), "of this epoch");
      while (const auto message = reader.value().next()) {
        must(message->has_value(), "of whole messages");
        must(std::holds_alternative<wire::Answer>(message->value()), "that are answers");
      }
    }
  }

  alignas(8) std::array<char, 64 * 1024> buffer_{};
};

}  // namespace tallyfs::fuzz
