// Longer than most: the parts of the daemon are made, run and ended here, in one order.
#include "fs/daemon/daemon.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <deque>
#include <filesystem>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/json_head.h"
#include "fs/daemon/boot_id.h"
#include "fs/daemon/kernel_feeder/own_threads.h"
#include "fs/daemon/log.h"
#include "fs/daemon/reload.h"
#include "fs/daemon/rules_file.h"
#include "fs/keeper/keeper.h"
#include "fs/session.h"
#include "program/log.h"

namespace tallyfs {
namespace {

// The period of checks of the counter that gives our time.
constexpr std::chrono::minutes kUpkeepPeriod{1};

// What is queued at the end is counted, for so long.
constexpr std::chrono::seconds kEndDrainMax{1};

Pages::Layout layout_of(const DaemonOptions& options) {
  return {.statistics = options.ledger.total.statistics,
          .stats = stats3::StatsBranch::kSwitches,
          .events = tracing::TracingBranch::kSwitches};
}

template <typename Page>
std::optional<Page> page_or_warning(Result<Page> made, const char* without) {
  if (made) return std::move(made.value());
  log_warning(made.error().reason.append(": ").append(without));
  return std::nullopt;
}

Pages make_pages(const DaemonOptions& options) {
  const std::size_t statistics = options.ledger.total.statistics;
  return {Dispatcher::draw_epoch(), layout_of(options),
          page_or_warning(SwitchPage::create(Branches::switches(statistics)),
                          "feeders cannot see what is off"),
          page_or_warning(ShapePage::create(statistics), "feeders send all samples")};
}

// A server that has handed over has left all that it had kept, and more.
std::optional<StateFile> kept_before(const Predecessors& before) {
  const bool is_needed = before.servers != 0 && !before.last && before.kept;
  return is_needed ? KeptState::kept_before(before.kept->contents) : std::nullopt;
}

// Copies of the open files: what they are read from is written over.
class KeptFiles {
 public:
  explicit KeptFiles(const ObjectStore::Contents& contents) {
    for (const SavedObject& each : contents.objects) {
      if (!is_of(each, SavedKind::kOpenFile)) continue;
      SavedObject file = each;
      file.label = texts_.emplace_back(each.label);
      file.bytes = texts_.emplace_back(each.bytes);
      objects_.push_back(file);
    }
  }
  const std::vector<SavedObject>& objects() const { return objects_; }

 private:
  std::deque<std::string> texts_;
  std::vector<SavedObject> objects_;
};

TransferredFds::Received received(const Predecessors& before) {
  if (!before.queue) return {};
  auto look = before.queue->look();
  if (!look.is_whole) {
    log_error("some of what feeders share with the servers before is left out: "
              "too many files are open (RLIMIT_NOFILE)");
  }
  return std::move(look.held);
}

std::string describe_end(int status) {
  if (WIFEXITED(status)) {
    return std::string("with status ").append(std::to_string(WEXITSTATUS(status)));
  }
  const int signal = WTERMSIG(status);
  std::string text("by signal ");
  return text.append(std::to_string(signal)).append(" (").append(::strsignal(signal)).append(")");
}

}  // namespace

Daemon::Daemon(const DaemonOptions& options, FeedSocket socket, std::optional<Fd> feeder,
               Predecessors before)
    : options_(options),
      predecessor_(std::move(before.last)),
      kept_before_(kept_before(before)),
      held_(before.queue ? std::optional<HeldInQueue>(*before.queue) : std::nullopt),
      descriptors_(held_ ? &*held_ : nullptr, received(before)),
      socket_(std::move(socket)),
      pages_(take_pages()),
      processes_(loop_, options.owner.uid,
                 [this](const Sender& process) { return process_ended(process); }),
      ledger_(options.ledger, options.owner.uid),
      tree_(clock_.now(), first_node(before.servers)),
      error_history_(std::make_shared<ErrorHistory>(epoch_text(pages_.epoch()),
                                                    options_.owner.uid, clock_.now())),
      errors_(std::make_shared<ErrorLog>(clock_.now(), error_history_.get())) {
  expect_nodes();
  if (!options_.rules_file.empty()) loop_.take_hangups();
  make_feeder(std::move(feeder));
  make_branches();
  take_rules();
  make_intake();
  kernel_events_ = std::make_unique<KernelEvents>(*branches_, *intake_, *errors_, clock_);
  operations_ = std::make_unique<Operations>(
      Operations::Dependencies{tree_, *errors_, branches_->statistics().counters(), *intake_,
                               clock_},
      CallerRights::Owner{options_.owner.uid, options_.owner.gid, options_.groups},
      options_.handles, before.servers);
  if (predecessor_) take_reload();
  std::optional<Boot> killed;
  if (kept_before_) {
    const StateFile file = *std::exchange(kept_before_, std::nullopt);
    has_kept_ = true;
    killed = boot_of(file.header, read_boot_id(), clock_.now());
    take_state(
        "kept", file,
        {.boot = *killed, .now = clock_.now(), .has_pages = has_pages_, .is_after_kill = true});
  }
  if (before.kept) {
    const KeptFiles open_files(before.kept->contents);
    keep_for_successor(std::move(*before.kept));
    take_journal(killed, before.crashes);
    take_open_files(open_files.objects(), killed.has_value());
  } else {
    descriptors_.forget_all();
  }
}

Pages Daemon::take_pages() {
  const StateFile* const file = predecessor_   ? &predecessor_->file()
                                : kept_before_ ? &*kept_before_
                                               : nullptr;
  auto taken =
      file ? tallyfs::take_pages(*file, layout_of(options_), descriptors_) : std::nullopt;
  if (taken && *taken) {
    has_pages_ = true;
    return std::move(taken->value());
  }
  if (taken) {
    log_warning(std::string("feeders register anew: ").append(taken->error().reason));
  }
  return make_pages(options_);
}

void Daemon::make_feeder(std::optional<Fd> channel) {
  if (!channel) return;
  feeder_ = std::make_unique<OrderedFeeder>(
      std::move(*channel), [this] { intake_->drain_feeders(); },
      [this] { branches_->statistics().counters().count("drains_cut", 1, clock_.now()); });
}

DaemonFacts Daemon::facts() const {
  return {.version = TALLYFS_VERSION,
          .epoch = pages_.epoch(),
          .pid = ::getpid(),
          .socket = socket_.place(),
          .queue_length = socket_.queue_length(),
          .tracefs = [feeder = feeder_.get()] {
            if (!feeder) return TracefsState::kOff;
            return feeder->is_there() ? TracefsState::kOn : TracefsState::kLost;
          }};
}

void Daemon::make_branches() {
  const auto& [switches, shapes] = std::tie(pages_.switches(), pages_.shapes());
  const Branches::Dependencies dependencies{
      .tree = tree_,
      .ledger = ledger_,
      .processes = processes_,
      .clock = clock_,
      .errors = errors_,
      .switches = switches ? switches->entries() : std::span<Switch>(),
      .shapes = shapes ? shapes->entries() : std::span<Shape>(),
      .feeder = feeder_.get(),
      .facts = facts(),
      .metrics = options_.metrics,
      .owner = options_.owner.uid,
      .writers = options_.groups.writers};
  branches_ =
      std::make_unique<Branches>(dependencies, options_.ledger.total.statistics, clock_.now());
  tree_.add_file(Tree::kRoot, "errors.json", {.permissions = 0400, .readers = true},
                 error_history_, clock_.now());
}

void Daemon::make_intake() {
  const auto& [switches, shapes] = std::tie(pages_.switches(), pages_.shapes());
  if (switches && shapes) {
    lanes_.emplace(Lanes::Dependencies{branches_->statistics(), ledger_, processes_, *errors_,
                                       clock_, counter_.get()},
                   options_.owner.uid);
  }
  Dispatcher::Dependencies dependencies{.statistics = branches_->statistics(),
                                        .branches = branches_->all(),
                                        .errors = *errors_,
                                        .clock = clock_,
                                        .sock_diag = options_.sock_diag,
                                        .epoch = pages_.epoch()};
  if (switches)
    dependencies.switches = {.fd = switches->fd_for_feeders(), .bytes = switches->bytes()};
  if (shapes) dependencies.shapes = {.fd = shapes->fd_for_feeders(), .bytes = shapes->bytes()};
  if (lanes_) dependencies.lanes = &*lanes_;
  intake_ = std::make_unique<Intake>(loop_, socket_, dependencies);
  processes_.open_by([this](pid_t process) { return intake_->open_process(process); });
}

std::vector<TransferredPart*> Daemon::handed_parts() {
  std::vector<TransferredPart*> parts{&pages_, &processes_, &journal_};
  if (lanes_) parts.push_back(&*lanes_);
  parts.push_back(intake_.get());
  return parts;
}

void Daemon::keep_state(StateDirectory directory) {
  StateSaver::Dependencies dependencies{.branches = branches_->all(),
                                        .counters = branches_->statistics().counters(),
                                        .errors = *errors_,
                                        .clock = clock_};
  if (kept_) {
    dependencies.saves_first = [this] { return kept_->save_all(); };
    dependencies.is_ahead = [this] { kept_->withdraw(); };
  }
  const std::chrono::seconds period(static_cast<std::int64_t>(options_.state_period));
  state_.emplace(std::move(directory), dependencies, period);
  if (predecessor_ || has_kept_) return state_->resume(read_boot_id());
  state_->load(read_boot_id());
  // A start takes as long as it takes; the first command must not wait for this.
  if (kept_) (void)kept_->save_all();
}

Result<void> Daemon::show(const std::string& subtree) {
  NodeId node = Tree::kRoot;
  for (const auto& name : std::filesystem::path(subtree).relative_path()) {
    if (name.empty()) continue;
    const auto found = tree_.lookup(node, name.native());
    if (!found || found.value().kind != NodeKind::kDirectory) {
      return Error{ErrorCode::kNotFound, "--subtree: there is no directory " + subtree};
    }
    node = found.value().id;
  }
  operations_->show(node);
  return {};
}

int Daemon::run(const ServedMount& mount, const std::function<void()>& ready) {
  Operations::bound_kept_memory();
  auto session = Session::create(*operations_, {.fd = mount.fd,
                                                .mount_options = options_.mount_options,
                                                .handover = mount.handover,
                                                .take_away = mount.take_away,
                                                .refused = [this](const Session::Refused& each) {
                                                  note_refused(each);
                                                }});
  if (!session) {
    say_error(session.error().reason);
    return 1;
  }
  if (mount.handover) {
    loop_.take(SIGUSR1);
    loop_.take(SIGUSR2);
  }
  Notifier& notifier = session.value()->notifier();
  const std::vector<NodeId> not_notified = resume(notifier);
  predecessor_.reset();
  tree_.observe(&notifier);
  ready_ = ready;
  refusal_ = mount.refusal;
  unready_parts_ = feeder_ ? 2 : 1;
  if (feeder_ && mount.handover && mount.handover->servers() > 0) feeder_->replace_feeder();
  if (feeder_) start_feeder();
  const auto started = [&] {
    mount.serving();
    loop_.post([this] { part_is_ready(); });
  };
  if (mount.handover) count_takeovers(*mount.handover);
  session.value()->start(started, [this] { loop_.stop(); });
  for (const NodeId directory : not_notified) notifier.directory_changed(directory);
  if (mount.handover) note_takeover(*mount.handover);
  serve();
  if (is_handing_over_) return hand_over(*session.value(), mount);
  end_ways();
  tree_.observe(nullptr);
  return end(*session.value());
}

// What feeders add from now on they send. What a thread has sent came before what is in its ring.
void Daemon::end_ways() {
  taken_at_end_ = intake_->take_queued(kEndDrainMax).datagrams;
  branches_->statistics().end_cells(clock_.now());
  intake_->take_rings_at_end(kEndDrainMax);
}

// Behind the unmount: a keeper that knows of the end starts no server on a socket that refuses.
int Daemon::end(Session& session) {
  // A write that waits for an event's source, or for the feeder, would hold up the end.
  branches_->tracing().tracing().end_expecting(clock_.now());
  if (feeder_) feeder_->end_waits();
  session.unmount();
  if (feeder_) feeder_->stop();
  refuse_senders();
  if (!state_) return 0;
  branches_->tracing().tracing().feed_pending(clock_.now());
  return state_->finish() ? 0 : kNotSaved;
}

// Each send() that succeeded is taken in, or counted in the log. The others keep what they have.
void Daemon::refuse_senders() {
  using Senders = Intake::Senders;
  const auto senders = socket_.refuse_senders() ? Senders::kRefused : Senders::kGoOn;
  const auto last = intake_->take_queued(kEndDrainMax, senders);
  const std::uint64_t taken = taken_at_end_ + last.datagrams;
  if (taken != 0) log_info(std::to_string(taken) + " datagrams that were queued are taken in");
  const std::uint64_t lost = last.all ? 0 : intake_->drop_left(senders);
  if (lost == 0) return;
  log_warning(std::to_string(lost) +
              " datagrams that were queued are lost: they are more than a second's work");
}

// The entry in error_log shows what was asked.
void Daemon::note_refused(const Session::Refused& refused) {
  branches_->statistics().counters().count("poisoned", 1, clock_.now());
  if (refused.reason.empty()) return;
  errors_->report({ErrorLog::Source::kMount, refused.uid}, "mount", refused.bytes,
                  invalid(refused.reason), clock_.now());
}

// Before requests are answered: --reload looks whether the server has crashed meanwhile. After a
// reload the numbers go on.
void Daemon::count_takeovers(const Handover& handover) {
  if (handover.servers() == 0 || handover.was_reload()) return;
  branches_->statistics().counters().count("takeovers", handover.servers() - handover.reloads(),
                                           clock_.now());
}

void Daemon::note_takeover(const Handover& handover) {
  if (handover.servers() == 0) return;
  const Timestamp now = clock_.now();
  const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
      std::chrono::steady_clock::now().time_since_epoch() -
      std::chrono::nanoseconds(handover.ended_ns()));
  DaemonCounters& counters = branches_->statistics().counters();
  counters.record("takeover_us", took.count(), 1, now);
  std::string text(handover.was_reload() ? "reload: this is version " TALLYFS_VERSION
                                         : "the server before ended ");
  if (!handover.was_reload()) text.append(describe_end(handover.status()));
  text.append("; requests are answered again after ");
  text.append(std::to_string(took.count())).append(" us");
  if (handover.was_reload()) return log_info(text);
  log_warning(text);
  if (handover.failures() < Keeper::kFailuresSuspect) return;
  log_warning(std::to_string(handover.failures()) +
              " servers crashed: the requests that they got are refused");
}

void Daemon::start_feeder() {
  feeder_->start(kernel_events_->listeners([this] { loop_.post([this] { part_is_ready(); }); }));
}

void Daemon::serve() {
  if (state_) state_->start();
  if (kept_) kept_->start();
  branches_->tracing().tracing().leave_out(own_threads());
  if (feeder_ && !knows_own_threads()) {
    log_warning(
        "in a PID namespace of its own tallyfs counts its own work among the kernel's "
        "events; their process ids are the host's, and tasks have no names");
  }
  intake_->start();
  loop_.every(kUpkeepPeriod, [this] {
    tally_clock_upkeep();
    counter_->check();
    operations_->give_memory_back();
  });
  mount_watch_.emplace(loop_, options_.mount_point);
  loop_.run([this](int signal) { take_signal(signal); });
  mount_watch_.reset();
}

// A terminal that goes ends what runs in its foreground, but not under nohup; to a daemon SIGHUP
// means to read its rules again.
void Daemon::take_signal(int signal) {
  if (signal == SIGHUP && (!options_.has_terminal || loop_.ignored_hangups())) {
    if (!options_.rules_file.empty()) return take_rules();
    return log_info("SIGHUP: without --rules there is no file to read again");
  }
  if (signal == SIGUSR1) return take_refusal();
  is_handing_over_ = signal == SIGUSR2;
  if (!is_handing_over_) return take_end(signal);
  log_info("reload: handing over");
  loop_.stop();
}

// --reload reads the entry when the count has grown.
void Daemon::take_refusal() {
  const Timestamp now = clock_.now();
  const std::string told = refusal_ ? refusal_() : std::string();
  const std::string reason =
      "the program on disk refuses" + (told.empty() ? ", and the log says why" : ": " + told);
  errors_->report(ErrorLog::kDaemon, kReloadEntry, "", {ErrorCode::kInvalid, reason}, now);
  branches_->statistics().counters().count("reloads_refused", 1, now);
}

void Daemon::take_end(int signal) {
  log_info(std::string("ending on signal ").append(std::to_string(signal)));
  loop_.stop();
}

// Few look into the log of a start in the background: until READY, stderr is that of the command
// that starts, and gets the faults, too. From then on it is /dev/null.
void Daemon::take_rules() {
  if (options_.rules_file.empty()) return;
  const auto tell = [this](const std::string& line) {
    log_error(line);
    if (!options_.foreground) say_error(line);
  };
  const auto text = read_rules(options_.rules_file);
  if (!text) return tell("rules: " + text.error().reason);
  const auto reading =
      branches_->statistics().take_rules(options_.rules_file, text.value(), clock_.now());
  for (const auto& refused : reading.refused) {
    for (const std::string& line : describe(options_.rules_file, refused)) tell(line);
  }
  const auto which = predecessor_ ? RulesReading::kAfterReload : RulesReading::kOther;
  log_info(summary(options_.rules_file, reading, which));
}

void Daemon::part_is_ready() {
  if (--unready_parts_ != 0) return;
  branches_->tracing().tracing().end_expecting(clock_.now());
  enter_expected();
  operations_->open_files().hold_returned();
  tree_.end_expecting(clock_.now());
  ready_();
}

// The samples that the process sent before it ended are taken in before its interfaces are removed.
// Both may take longer than other senders should wait for.
ProcessEnds::Heard Daemon::process_ended(const Sender& process) {
  const bool is_begun = ended_.contains(process.pid);
  auto ended = is_begun ? Intake::Ended::kTaken : intake_->take_lanes_of(process.pid);
  if (ended == Intake::Ended::kTaken) {
    ended_.insert(process.pid);
    ended = intake_->take_end_of(process, [&](Timestamp now, const IsLate& is_late) {
      return std::ranges::all_of(branches_->all(), [&](Branch* branch) {
        return branch->process_ended(process.pid, now, is_late);
      });
    });
  }
  switch (ended) {
    case Intake::Ended::kTaken:
      ended_.erase(process.pid);
      return ProcessEnds::Heard::kDone;
    case Intake::Ended::kCut:
      return ProcessEnds::Heard::kAgain;
    case Intake::Ended::kLater:
      return ProcessEnds::Heard::kLater;
  }
  return ProcessEnds::Heard::kDone;
}

}  // namespace tallyfs
