// tallyfs: puts the rooms together. The main thread runs the intake and waits for signals; the
// session's threads answer the kernel.
#include <sys/resource.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "core/base/ledger.h"
#include "core/branch/latency_hist/latency_hist.h"
#include "core/branch/statistics/statistics.h"
#include "core/branch/stats/subsystems.h"
#include "core/branch/tracing/kernel_feed.h"
#include "core/branch/tracing/tracing.h"
#include "core/branch/tracing/user_events.h"
#include "core/tree/error_log.h"
#include "core/tree/tree.h"
#include "feeders/clock/program_clock.h"
#include "feeders/intake/event_loop.h"
#include "feeders/intake/feed_socket.h"
#include "feeders/intake/intake.h"
#include "feeders/intake/process_ends.h"
#include "feeders/intake/queue_length.h"
#include "feeders/intake/switch_page.h"
#include "fs/daemon/background.h"
#include "fs/daemon/caretaker.h"
#include "fs/daemon/feeder_warden.h"
#include "fs/daemon/log.h"
#include "fs/daemon/mount_point.h"
#include "fs/daemon/options.h"
#include "fs/daemon/ordered_feeder.h"
#include "fs/daemon/own_threads.h"
#include "fs/daemon/possible_cpus.h"
#include "fs/daemon/privileges.h"
#include "fs/daemon/proc_names.h"
#include "fs/operations.h"
#include "fs/session.h"
#include "log/log.h"

namespace tallyfs {
namespace {

// Is the counter that our time comes from still to be trusted?
constexpr std::chrono::minutes kUpkeepPeriod{1};

int fail(const Error& error) {
  say_error(error.reason);
  return 1;
}

// Asked before the fork: descriptors are handed to one process, named by its pid.
Result<int> count_passed_sockets() {
  const int count = ::sd_listen_fds(1);
  if (count >= 0 && count <= 1) return count;
  return Error{ErrorCode::kInvalid, "systemd passed " + std::to_string(count) +
                                        " sockets; one ListenDatagram= is wanted"};
}

Result<FeedSocket> open_socket(const DaemonOptions& options, int passed_sockets) {
  if (passed_sockets == 1) return FeedSocket::adopt(SD_LISTEN_FDS_START);
  if (options.socket_path.empty()) {
    return Error{ErrorCode::kInvalid,
                 "where shall the socket be? XDG_RUNTIME_DIR is not set; use --socket"};
  }
  return FeedSocket::bind({.path = options.socket_path,
                           .permissions = options.socket_permissions,
                           .queue_length = options.queue_length});
}

// Nothing: the daemon stays who it is.
Result<std::optional<Identity>> identity_for(const DaemonOptions& options) {
  if (options.run_as.empty()) return std::optional<Identity>();
  if (::geteuid() != 0) {
    return Error{ErrorCode::kNotPermitted, "only root can become somebody else (--run-as)"};
  }
  auto identity = find_identity(options.run_as);
  if (!identity) return Error{identity.error().code, "--run-as: " + identity.error().reason};
  return std::optional(identity.value());
}

// A socket passed by systemd has what the setting was then, which is most probably what it is now.
void report_queue(const FeedSocket& socket, const DaemonOptions& options) {
  if (socket.queue_length() || QueueLength::current() >= options.queue_length) return;
  log_warning(
      "the socket's queue holds as many datagrams as net.unix.max_dgram_qlen said when it was made "
      "(" +
      std::to_string(QueueLength::current()) + " now), not " +
      std::to_string(options.queue_length) +
      ": feeders will wait or lose samples in bursts if that is less");
}

// Without one everything works, but feeders send what nobody gathers.
std::optional<SwitchPage> make_switches(const DaemonOptions& options) {
  auto made = SwitchPage::create(options.ledger.total.statistics + Subsystems::kSwitches +
                                 UserEvents::kEventsMax);
  if (made) return std::move(made.value());
  log_warning(made.error().reason + ": feeders cannot see what is off");
  return std::nullopt;
}

// A watched process takes a descriptor, and the usual limit is 1,024 of them in all.
void allow_descriptors() {
  constexpr rlim_t kDescriptors = ProcessEnds::kProcessesMax + 256;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kDescriptors));
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

// Who serves what root has mounted, and who cleans up behind it.
struct Successor {
  std::optional<Identity> identity;
  Caretaker* caretaker = nullptr;

  Result<void> take_over() const {
    if (caretaker) caretaker->mounted();
    return drop_privileges(identity);
  }
};

class Daemon {
 public:
  // feeder: whom to order the kernel's events from; nothing: they are not read.
  Daemon(const DaemonOptions& options, FeedSocket socket, std::optional<Fd> feeder)
      : options_(options),
        socket_(std::move(socket)),
        switches_(make_switches(options)),
        processes_(loop_, [this](pid_t process) { process_ended(process); }),
        ledger_(options.ledger),
        tree_(clock_.now()),
        errors_(std::make_shared<ErrorLog>(clock_.now())),
        layout_(switches_ ? switches_->switches() : std::span<Switch>()),
        statistics_(tree_, ledger_, ::geteuid(), clock_.now(),
                    ports(options.ledger.total.statistics)),
        subsystems_(tree_, ledger_, ::geteuid(), clock_.now(),
                    ports(Subsystems::kSwitches)),
        tracing_(tree_.add_directory(Tree::kRoot, "tracing", std::make_shared<Directory>(),
                                     clock_.now())),
        feeder_(feeder ? std::make_unique<OrderedFeeder>(
                             std::move(*feeder), [this] { intake_.settle(); },
                             [this] { statistics_.own().count(Own::kDrainsCut, 1, clock_.now()); })
                       : nullptr),
        latencies_(tree_, tracing_, ledger_,
                   {.cpus = count_possible_cpus(), .owner = ::geteuid(), .source = feeder_.get()},
                   clock_.now()),
        events_(tree_, tracing_, ledger_,
                {.owner = ::geteuid(),
                 .cpus = count_possible_cpus(),
                 .error_log = errors_,
                 .own = &statistics_.own(),
                 .processes = &process_names_},
                clock_.now()),
        user_events_(events_, ledger_, ::geteuid(), ports(UserEvents::kEventsMax)),
        kernel_(feeder_ ? std::make_unique<KernelFeed>(events_, *feeder_, ::geteuid()) : nullptr),
        intake_(loop_, socket_, statistics_, subsystems_, *errors_, clock_, shared_page(),
                &latencies_, &user_events_, kernel_.get()),
        operations_({tree_, *errors_, statistics_.own(), intake_, clock_},
                    {::geteuid(), ::getegid()}, options.handles) {}

  // What is mounted is the part of the tree that bears this path. kNotFound.
  Result<void> show(const std::string& subtree) {
    NodeId node = Tree::kRoot;
    for (const auto& name : std::filesystem::path(subtree).relative_path()) {
      if (name.empty()) continue;
      const auto found = tree_.lookup(node, name.native());
      if (!found || found.value().kind != NodeKind::kDirectory) {
        return Error{ErrorCode::kNotFound, "--subtree: there is no directory " + subtree};
      }
      node = found.value().id;
    }
    operations_.show(node);
    return {};
  }

  // Mounts, becomes whom it is told to be and serves until a signal or an unmount ends it. ready is
  // called on this thread when tree and socket can be used.
  int run(const Successor& successor, const std::function<void()>& ready) {
    Session::Options mounting{.mount_point = options_.mount_point,
                              .mount_options = options_.mount_options,
                              .mounted = [&] { return successor.take_over(); }};
    if (successor.caretaker) mounting.take_away = [&] { successor.caretaker->put_away(); };
    auto session = Session::create(operations_, mounting);
    if (!session) return fail(session.error());
    tree_.observe(&session.value()->notifier());
    ready_ = ready;
    awaited_ = feeder_ ? 2 : 1;
    if (feeder_) listen_to_feeder();
    session.value()->start([this] { loop_.post([this] { arrive(); }); }, [this] { loop_.stop(); });
    events_.leave_out(own_threads());
    intake_.start();
    loop_.every(kUpkeepPeriod, [this] {
      tally_clock_upkeep();
      operations_.give_memory_back();
    });
    loop_.run([this](int signal) {
      log_info("ending on signal " + std::to_string(signal));
      loop_.stop();
    });
    ::sd_notify(0, "STOPPING=1");
    tree_.observe(nullptr);
    session.value()->unmount();
    if (feeder_) feeder_->stop();
    return 0;
  }

 private:
  void listen_to_feeder() {
    feeder_->start({.changed = [this] { latencies_.feeder_changed(clock_.now()); },
                    .wanted = [this] { return latencies_.wanted(); },
                    .arrived =
                        [this] {
                          intake_.settle();
                          log_info("the kernel has " +
                                   std::to_string(kernel_->take_offers(clock_.now())) + " events");
                        },
                    .refused = [this](auto what, const auto& why) { feeder_refused(what, why); },
                    .gone = [this](const std::string& reason) { feeder_gone(reason); },
                    .left_out = [this](auto threads) { events_.leave_out(std::move(threads)); },
                    .settled = [this] { loop_.post([this] { arrive(); }); }});
  }
  // What it has sent counts, and stands before the gap.
  void feeder_gone(const std::string& reason) {
    intake_.settle();
    const bool is_missed = kernel_->withdraw(clock_.now());
    log_warning(reason + (is_missed ? ": some of the events that were wanted are lost" : ""));
  }
  // What a new feeder was told, and nobody waits for the answer: it is told where refused writes
  // are.
  void feeder_refused(OrderedFeeder::Asked what, const Error& error) {
    const bool is_latencies = what == OrderedFeeder::Asked::kForLatencyHist;
    if (is_latencies) latencies_.feeder_refused(clock_.now());
    errors_->report(ErrorLog::Source::kMount,
                    is_latencies ? "tracing/latency_hist/enable" : "tracing/events", "", error,
                    clock_.now());
  }
  // Ready is who has mounted and knows the kernel's events, if they are wanted.
  void arrive() {
    if (--awaited_ == 0) ready_();
  }

  // A branch's, with the next so many entries of the page of switches.
  Ports ports(std::size_t switches) {
    return {.switches = layout_.take(switches), .processes = &processes_, .errors = errors_.get()};
  }
  Dispatcher::SharedPage shared_page() const {
    if (!switches_) return {};
    return {.fd = switches_->fd(), .bytes = switches_->bytes()};
  }
  // What it sent before it ended is taken in before its interfaces go.
  void process_ended(pid_t process) {
    intake_.settle();
    statistics_.process_ended(process, clock_.now());
    user_events_.process_ended(process, clock_.now());
    subsystems_.process_ended(process, clock_.now());
  }

  const DaemonOptions& options_;
  ProgramClock clock_;
  EventLoop loop_;
  FeedSocket socket_;
  std::optional<SwitchPage> switches_;
  ProcessEnds processes_;
  Ledger ledger_;
  Tree tree_;
  std::shared_ptr<ErrorLog> errors_;  // shared with the tree
  SwitchLayout layout_;
  Statistics statistics_;
  Subsystems subsystems_;
  const ProcNames process_names_;
  const NodeId tracing_;
  const std::unique_ptr<OrderedFeeder> feeder_;
  LatencyHist latencies_;
  Tracing events_;
  UserEvents user_events_;
  const std::unique_ptr<KernelFeed> kernel_;
  Intake intake_;
  Operations operations_;
  std::function<void()> ready_;
  int awaited_ = 0;  // that have to arrive until we are ready
};

int run(DaemonOptions options) {
  auto mount_point = prepare_mount_point(
      options.mount_point, options.auto_unmount ? Leftover::kCleanUp : Leftover::kReport);
  if (!mount_point) return fail(mount_point.error());
  options.mount_point = mount_point.value();
  std::signal(SIGPIPE, SIG_IGN);
  const auto identity = identity_for(options);
  if (!identity) return fail(identity.error());

  const auto passed_sockets = count_passed_sockets();
  if (!passed_sockets) return fail(passed_sockets.error());
  std::optional<Background> background;
  if (!options.foreground) background = Background::enter();
  auto socket = open_socket(options, passed_sockets.value());
  if (!socket) return fail(socket.error());
  // Before the caretaker, whose pipe it must not hold open.
  std::optional<Fd> feeder;
  if (options.tracefs) {
    auto employed = employ_feeder_warden(
        socket.value(), options.foreground ? FeederLog::kStderr : FeederLog::kNowhere);
    if (!employed) return fail(employed.error());
    feeder = std::move(employed.value());
  }
  std::optional<Caretaker> caretaker;
  if (identity.value()) {
    auto employed = Caretaker::employ(socket.value(), options.mount_point);
    if (!employed) return fail(employed.error());
    caretaker.emplace(std::move(employed.value()));
  }
  if (background) {
    log_to_syslog("tallyfs");
  } else {
    log_to_terminal_or_journal();  // stdout is for READY
  }
  set_log_level(options.log_level);
  report_queue(socket.value(), options);
  allow_descriptors();

  const std::string socket_name =
      socket.value().path().empty() ? "the socket passed by systemd" : socket.value().path();
  Daemon daemon(options, std::move(socket.value()), std::move(feeder));
  if (const auto shown = daemon.show(options.subtree); !shown) return fail(shown.error());
  return daemon.run({identity.value(), caretaker ? &*caretaker : nullptr}, [&] {
    log_info("mounted on " + options.mount_point + ", listening on " + socket_name);
    ::sd_notify(0, "READY=1");
    if (background) {
      background->ready();
    } else {
      std::puts("READY");
      std::fflush(stdout);
    }
  });
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) {
  const tallyfs::ParsedOptions parsed = tallyfs::parse_options(argc, argv);
  return parsed.options ? tallyfs::run(*parsed.options) : parsed.exit_status;
}
