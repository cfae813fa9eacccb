// Longer than most: an order of each kind is carried out here, and options are read.
// tally-feed-tracefs: the kernel's events for tracing/. tallyfs starts it with -o tracefs and tells
// it, over a socket that it has inherited, what is wanted (core/wire/order.h): events as they are
// for tracing/events, and what becomes of scheduling events for tracing/latency_hist. One thread.
//
// It sleeps until the first event, then lets a poll period's worth of them gather: without orders
// and on an idle machine it costs nothing.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/clock.h"
#include "feeders/client/socket_path.h"
#include "feeders/kernel/catalogue.h"
#include "feeders/kernel/event_shipper.h"
#include "feeders/kernel/event_tracing.h"
#include "feeders/kernel/latency_tracing.h"
#include "feeders/kernel/offering.h"
#include "feeders/kernel/orders.h"
#include "feeders/kernel/place_finder.h"
#include "feeders/kernel/real_probes.h"
#include "feeders/kernel/record_shipper.h"
#include "feeders/kernel/symbol_book.h"
#include "feeders/tracefs/instance.h"
#include "feeders/tracefs/probe_group.h"
#include "feeders/tracefs/tracefs.h"
#include "program/feeder/program.h"
#include "program/feeder/stop_signal.h"
#include "program/log.h"

namespace tallyfs {
namespace {

using namespace std::chrono_literals;

struct Options : ProgramOptions {
  int orders = -1;
  pid_t owner = ::getpid();
  bool is_successor = false;
  int tracefs = -1;
  int probe_lock = -1;
  unsigned probe_group = 0;
  bool removes_orphans = false;
  unsigned poll_ms = 20;
  unsigned buffer_kib = 8'192;
};

InstanceOwner owner_of(const Options& options) {
  InstanceOwner owner{.pid = options.owner};
  if (options.probe_lock >= 0) owner.number = options.probe_group;
  return owner;
}

struct Found {
  Catalogue catalogue;
  std::string without_events = {};  // why there are none
};

// Of mounts that have ended, whatever ended them. Returns whether none is left.
bool remove_orphans(const Fd& tracefs) {
  const RemovedOrphans removed = remove_orphaned_probes(tracefs);
  if (removed.groups > 0) {
    log_info("removed the probes of mounts that have ended: " + std::to_string(removed.groups));
  }
  for (const std::string& reason : removed.left) log_warning("probes are left over: " + reason);
  return removed.left.empty();
}

// Without tracefs there is nothing to offer; a user that wants an event is given the reason.
Found read_catalogue(const Options& options) {
  const auto tracefs = open_tracefs(options.tracefs);
  if (!tracefs) return {Catalogue({}), tracefs.error().reason};
  const InstanceOwner own = owner_of(options);
  (void)TracefsInstance::remove_left_behind(tracefs.value(), options.is_successor ? nullptr : &own);
  (void)remove_orphans(tracefs.value());
  Found found{Catalogue::read(tracefs.value())};
  if (found.catalogue.events().empty()) {
    found.without_events = "its tracefs has no events that can be read";
  }
  return found;
}

// All that has the kernel trace something.
struct Tracings {
  LatencyTracing& latencies;
  EventTracing& events;
  RealProbes& probes;

  using Remaining = MergedReader::Remaining;

  void drop_leftovers() {
    latencies.drop_leftovers();
    events.drop_leftovers();
  }
  Remaining poll() {
    const Remaining remaining = of_each(&Recording::poll);
    latencies.adapt();
    return remaining;
  }
  Remaining drain() { return of_each(&Recording::drain); }
  void leave() {
    if (Recording* const each = latencies.recording()) each->leave(latencies.sink());
    if (Recording* const each = events.recording()) each->leave(events.sink());
  }
  // Calls use(fd) for what is readable as soon as there is an event.
  template <typename Use>
  void each_fd(const Use& use) {
    for (const Recording* const each : {latencies.recording(), events.recording()}) {
      if (each) std::ranges::for_each(each->fds(), use);
    }
  }

 private:
  Remaining of_each(Remaining (Recording::*take)(EventSink&)) {
    const auto of = [take](auto& tracing) {
      Recording* const recording = tracing.recording();
      return recording ? (recording->*take)(tracing.sink()) : Remaining::kNothing;
    };
    const Remaining first = of(latencies);
    return most(first, of(events));
  }
  static Remaining most(Remaining one, Remaining other) {
    if (one == Remaining::kMore || other == Remaining::kMore) return Remaining::kMore;
    const bool held = one == Remaining::kHeldBack || other == Remaining::kHeldBack;
    return held ? Remaining::kHeldBack : Remaining::kNothing;
  }
};

class Feeder {
 public:
  Feeder(const StopSignal& stop, Orders& orders, Tracings tracings, SymbolBook& symbols,
         const Options& options)
      : stop_(stop),
        orders_(orders),
        tracings_(tracings),
        symbols_(symbols),
        finder_(clock_, [this](const wire::Reply& reply) { orders_.answer(reply); }),
        tracefs_(open_tracefs(options.tracefs)),
        owner_(options.owner),
        period_(options.poll_ms),
        knows_probes_(!options.is_successor) {}

  // without_events: why there are none; empty: there are some.
  void run(const std::string& without_events) {
    orders_.discard();
    orders_.answer(wire::Hello{::getpid(), without_events});
    while (!stopped_ && !orders_.ended()) {
      take_orders();
      finder_.step();
      if (is_being_told()) {
        wait(period_, Until::kOrder);
        continue;
      }
      drain(std::exchange(early_drains_, {}));
      tracings_.probes.tidy();
      look_for_orphans();
      const auto left = tracings_.poll();
      if (left == MergedReader::Remaining::kMore) {
        wait(0ms, Until::kOrder);
      } else if (left == MergedReader::Remaining::kHeldBack) {
        wait(period_, Until::kOrder);
      } else {
        wait(earlier(tracings_.probes.due(), orphans_due()), Until::kEvent);
        wait(period_, Until::kOrder);
      }
    }
  }

 private:
  static constexpr auto kOrdersMax = 20ms;
  static constexpr std::size_t kEarlyDrainsMax = 64;
  static constexpr auto kToldMax = 10s;  // a daemon without probes may not say so
  // For threads to end on a busy machine: of 100 kills, at a load of 9 to 17, two were too early
  // for the first look. Each later start looks again.
  static constexpr auto kOrphansAgain = 3s;
  enum class Until { kOrder, kEvent };

  // Threads of a process that was killed may hold its lock for a moment after it has gone: what
  // they had is not left over yet when the next mount starts.
  std::optional<std::chrono::milliseconds> orphans_due() const {
    if (!looks_for_orphans_) return std::nullopt;
    const auto left = look_at_ - std::chrono::steady_clock::now();
    return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), 0ms);
  }
  void look_for_orphans() {
    if (orphans_due() != 0ms) return;
    looks_for_orphans_ = false;
    if (tracefs_) (void)remove_orphans(tracefs_.value());
  }
  // Negative: never.
  using Due = std::optional<std::chrono::milliseconds>;
  static std::chrono::milliseconds earlier(Due one, Due other) {
    if (one && other) return std::min(*one, *other);
    return one.value_or(other.value_or(-1ms));
  }
  // A successor polls nothing before it was told of all probes, some at a time: the daemon knows
  // none of their records yet, and those of events that are not wanted yet would be passed over.
  // The kernel counts what its buffers cannot take meanwhile.
  bool is_being_told() const {
    return !knows_probes_ && std::chrono::steady_clock::now() < told_until_;
  }
  // What is recorded is polled in between, however many orders are there.
  void take_orders() {
    const auto until = std::chrono::steady_clock::now() + kOrdersMax;
    do {
      const auto order = orders_.next();
      if (!order) return;
      std::visit([this](const auto& each) { carry_out(each); }, *order);
    } while (is_being_told() || std::chrono::steady_clock::now() < until);
  }
  void carry_out(const wire::WantOrder& order) {
    answer(order.number, tracings_.latencies.want(order.events, with_own(order.without)));
  }
  void carry_out(const wire::EventsOrder& order) {
    // Stacks need the names. They are read before recording starts: otherwise a drain would wait
    // for that.
    if (std::ranges::any_of(order.events, &wire::WatchedEvent::stack)) symbols_.load();
    tracings_.events.leave_out(with_own(order.without));
    if (order.events.empty()) tracings_.drop_leftovers();
    answer(order.number, tracings_.events.change(order.events));
  }
  void carry_out(const wire::PlaceOrder& order) {
    auto place = symbols_.place(order.address);
    orders_.answer(wire::Placed{.number = order.number,
                                .offset = place.offset,
                                .size = place.size,
                                .module = std::move(place.module),
                                .name = std::move(place.name)});
  }
  void carry_out(const wire::TextsOrder& order) {
    auto texts = tracefs_ ? read_text(tracefs_.value(), "printk_formats") : tracefs_.error();
    orders_.answer(wire::Texts{order.number, texts ? std::move(texts.value()) : std::string()});
  }
  void carry_out(const wire::DrainOrder& order) {
    if (!is_being_told()) return drain({order});
    if (early_drains_.size() == kEarlyDrainsMax) early_drains_.erase(early_drains_.begin());
    early_drains_.push_back(order);
  }
  // One is all that any of them asks for. Those that readers have given up come from each open.
  void drain(const std::vector<wire::DrainOrder>& orders) {
    if (orders.empty()) return;
    Result<void> done;
    if (tracings_.drain() == MergedReader::Remaining::kMore) {
      done = Error{ErrorCode::kBusy, "more events than a drain takes"};
    }
    for (const wire::DrainOrder& each : orders) answer(each.number, done);
  }
  void carry_out(const wire::ProbeOrder& order) {
    const auto made = tracings_.probes.define(order);
    if (made) return orders_.answer(made.value());
    orders_.answer(wire::Refused{order.number, made.error()});
  }
  void carry_out(const wire::FindOrder& order) {
    const auto may = tracings_.probes.may_define();
    if (may) return finder_.find(order);
    orders_.answer(wire::Refused{order.number, may.error()});
  }
  void carry_out(const wire::ProfileOrder& order) {
    const auto profiled = tracings_.probes.profile(order);
    if (profiled) return orders_.answer(profiled.value());
    orders_.answer(wire::Refused{order.number, profiled.error()});
  }
  void carry_out(const wire::UnprobeOrder& order) {
    tracings_.probes.remove(order.serials);
    answer(order.number, {});
  }
  void carry_out(const wire::ProbesOrder& order) {
    tracings_.probes.keep(order.serials);
    knows_probes_ = true;
    answer(order.number, {});
  }
  // As if it were killed: what it records in stays for its successor. Only what it has read of
  // that already, and holds back, would be lost. Without a supervisor it has no successor.
  void carry_out(const wire::EndOrder&) {
    tracings_.leave();
    if (::getppid() == owner_) ::_exit(0);
    stopped_ = true;
  }
  void answer(std::uint64_t number, const Result<void>& done) {
    if (done) return orders_.answer(wire::Done{number});
    orders_.answer(wire::Failed{number, done.error()});
  }
  std::vector<pid_t> with_own(std::vector<pid_t> threads) const {
    if (!sees_kernels_pids()) return {};
    threads.push_back(::getpid());
    if (owner_ != ::getpid()) threads.push_back(owner_);
    return threads;
  }

  // An order ends any wait, and so do a signal and the answer of a search.
  void wait(std::chrono::milliseconds at_most, Until until) {
    if (const auto due = finder_.due()) at_most = at_most < 0ms ? *due : std::min(at_most, *due);
    waited_.clear();
    waited_.push_back({.fd = stop_.fd(), .events = POLLIN, .revents = 0});
    waited_.push_back({.fd = orders_.fd(), .events = POLLIN, .revents = 0});
    waited_.push_back({.fd = finder_.fd(), .events = POLLIN, .revents = 0});
    if (until == Until::kEvent) {
      tracings_.each_fd([this](int fd) { waited_.push_back({.fd = fd, .events = POLLIN}); });
    }
    ::poll(waited_.data(), waited_.size(), static_cast<int>(at_most.count()));
    stopped_ |= waited_.front().revents != 0;
    if (waited_[1].revents != 0) take_orders();
  }

  const SystemClock clock_;
  const StopSignal& stop_;
  Orders& orders_;
  Tracings tracings_;
  SymbolBook& symbols_;
  PlaceFinder finder_;
  const Result<Fd> tracefs_;
  const pid_t owner_;
  const std::chrono::milliseconds period_;
  std::vector<pollfd> waited_;
  bool stopped_ = false;
  bool knows_probes_;  // which there are in the kernel
  const std::chrono::steady_clock::time_point told_until_ =
      std::chrono::steady_clock::now() + kToldMax;
  std::vector<wire::DrainOrder> early_drains_;  // the newest
  bool looks_for_orphans_ = true;
  const std::chrono::steady_clock::time_point look_at_ =
      std::chrono::steady_clock::now() + kOrphansAgain;
};

// In a PID namespace of its own /proc has other tasks under the numbers of the kernel's events.
std::string no_name(std::int32_t) { return {}; }

// Returns when the daemon has ended the feeder, and nothing records any more.
Result<void> feed(const Options& options, const StopSignal& stop) {
  const SystemClock clock;
  const SocketPath place = find_socket_path(options.socket);
  Link link(place.path, place.fallback);
  Found found = read_catalogue(options);
  Catalogue& catalogue = found.catalogue;
  if (auto offered = offer_all(catalogue, link); !offered) return offered.error();
  EventShipper latency_shipper(link);
  using Predecessor = TracefsInstance::Predecessor;
  const RecordingOwner owner{
      owner_of(options), options.is_successor ? Predecessor::kMayHaveLeftOne : Predecessor::kNone,
      options.tracefs};
  LatencyTracing latencies(latency_shipper, clock, owner);
  Orders orders(options.orders);
  SymbolBook symbols(read_kernel_symbols);
  RecordShipper shipper(link, symbols, sees_kernels_pids() ? name_in_proc : no_name);
  EventTracing events(catalogue, shipper, clock,
                      {.buffer_kib_per_cpu = options.buffer_kib, .owner = owner});
  const auto tracefs = open_tracefs(options.tracefs);
  RealProbes::Owner probes_of{.tracefs = tracefs ? &tracefs.value() : nullptr, .group = {}};
  if (options.probe_lock >= 0) probes_of.group = {options.owner, options.probe_group};
  RealProbes probes(probes_of, catalogue, events, clock);
  Feeder(stop, orders, {latencies, events, probes}, symbols, options).run(found.without_events);
  return {};
}

// The supervisor does it as a rule. One that was killed cannot, and a mount that starts before this
// process has ended does not take the probes for left over.
void remove_probes_without_supervisor(const Options& options) {
  if (options.probe_lock < 0 || ::getppid() == options.owner) return;
  const auto tracefs = open_tracefs(options.tracefs);
  if (!tracefs) return;
  const std::string group = ProbeGroup{options.owner, options.probe_group}.name();
  const auto done = remove_probe_group(tracefs.value(), group);
  if (!done) log_warning("probes are left over: " + group + ": " + done.error().reason);
}

int run(const Options& options) {
  const auto stop = StopSignal::create();
  if (!stop) return log_failure(stop.error());
  if (auto done = set_up(options); !done) return log_failure(done.error());
  const auto fed = feed(options, stop.value());
  remove_probes_without_supervisor(options);
  return fed ? 0 : log_failure(fed.error());
}

int run_remove_orphans(const Options& options) {
  if (auto done = set_up(options); !done) return log_failure(done.error());
  const auto tracefs = open_tracefs(options.tracefs);
  if (!tracefs) return log_failure(tracefs.error());
  const bool is_none_left = remove_orphans(tracefs.value());
  const std::size_t left = TracefsInstance::remove_left_behind(tracefs.value(), nullptr);
  if (left > 0) log_warning("tracing instances are left over: " + std::to_string(left));
  return is_none_left && left == 0 ? 0 : 1;
}

void add_probe_options(CommandLine& line, Options& options) {
  line.add({.names = "--probe-lock",
            .variable = &options.probe_lock,
            .value = "FD",
            .text = "the descriptor with the lock of the group of probes",
            .check = InRange{0, std::numeric_limits<int>::max()},
            .shown = Option::Default::kHidden});
  line.add({.names = "--probe-group",
            .variable = &options.probe_group,
            .value = "NUMBER",
            .text = "the number of that group, whose byte is locked",
            .check = InRange{0, std::numeric_limits<int>::max()},
            .shown = Option::Default::kHidden});
  line.add_flag("--remove-orphans", options.removes_orphans,
                "remove the probes of mounts that have ended, and end");
}

int main(int argc, char** argv) {
  Options options{{.name = "tally-feed-tracefs"}};
  auto line = make_command_line(
      "Feeds tracing/ with the kernel's events. tallyfs -o tracefs starts it.", options);
  line.add({.names = "--orders",
            .variable = &options.orders,
            .value = "FD",
            .text = "the descriptor over which tallyfs gives orders",
            .check = InRange{0, std::numeric_limits<int>::max()},
            .shown = Option::Default::kHidden});
  line.add({.names = "--owner",
            .variable = &options.owner,
            .value = "PID",
            .text = "the process that the tracing instances are named after (this one)",
            .check = InRange{1, std::numeric_limits<pid_t>::max()},
            .shown = Option::Default::kHidden});
  line.add({.names = "--tracefs",
            .variable = &options.tracefs,
            .value = "FD",
            .text = "the descriptor of the kernel's tracefs (else it looks for one)",
            .check = InRange{0, std::numeric_limits<int>::max()},
            .shown = Option::Default::kHidden});
  add_probe_options(line, options);
  line.add_flag("--successor", options.is_successor,
                "go on with what a feeder of the same owner has left that died");
  add_poll_option(line, options.poll_ms);
  line.add({.names = "--buffer-kib",
            .variable = &options.buffer_kib,
            .value = "KIB",
            .text = "what the kernel keeps of events until then, for each CPU",
            .check = InRange{64, 1 << 20},
            .bounds = "64 to 1048576"});
  if (const auto status = line.parse(argc, argv)) return *status;
  if (options.removes_orphans) return run_remove_orphans(options);
  if (options.orders < 0) {
    std::fputs("tally-feed-tracefs: --orders or --remove-orphans is needed\n", stderr);
    return 2;
  }
  return run(options);
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) { return tallyfs::main(argc, argv); }
