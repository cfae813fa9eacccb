// tallyfs: the steps before there are threads. Sockets, side processes and the log are made here;
// then the Daemon runs. Longer than most: it has each way in, a start, a reload and its check.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "feeders/intake/answer_channels.h"
#include "feeders/intake/feed_socket.h"
#include "feeders/intake/process_ends.h"
#include "fs/daemon/absolute_path.h"
#include "fs/daemon/background.h"
#include "fs/daemon/daemon.h"
#include "fs/daemon/descriptor_store.h"
#include "fs/daemon/inheritance.h"
#include "fs/daemon/keeper_log.h"
#include "fs/daemon/kernel_feeder/feeder_supervisor.h"
#include "fs/daemon/kernel_feeder/side_process.h"
#include "fs/daemon/kernel_feeder/tracefs_access.h"
#include "fs/daemon/log.h"
#include "fs/daemon/mount_point.h"
#include "fs/daemon/next_program.h"
#include "fs/daemon/options.h"
#include "fs/daemon/predecessor.h"
#include "fs/daemon/privileges.h"
#include "fs/daemon/reload.h"
#include "fs/daemon/rules_file.h"
#include "fs/daemon/socket.h"
#include "fs/daemon/state_directory.h"
#include "fs/daemon/system_call_filter.h"
#include "fs/daemon/tracefs_below.h"
#include "fs/daemon/transfer_formats.h"
#include "fs/daemon/watchdog.h"
#include "fs/keeper/keeper.h"
#include "fs/keeper/program_check.h"
#include "fs/mount.h"
#include "program/log.h"

namespace tallyfs {
namespace {

// A watched process takes a descriptor, a lane and an answer channel two at most; the usual limit
// is 1,024 in all. As many wait with the keeper, and all of them twice for a moment.
void allow_descriptors() {
  constexpr rlim_t kDescriptors =
      2 * (ProcessEnds::kProcessesMax + 2 * Lanes::kLanesMax + 2 * AnswerChannels::kChannelsMax) +
      256;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kDescriptors));
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

// Writes fail instead: to a socket that is closed, and beyond RLIMIT_FSIZE, which holds for memory
// that processes share, too.
void ignore_signals() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

// Whether this process has a controlling terminal, whose end sends SIGHUP.
bool has_terminal() { return Fd(::open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY)).valid(); }

// The processes beside the daemon, in the order in which they are forked.
struct SideProcesses {
  std::optional<Fd> feeder;  // the channel to the supervisor of the kernel's feeder
  std::optional<Watchdog> watchdog;
};

// The supervisor comes first: it must not hold the watchdog's pipe open.
Result<SideProcesses> start_side_processes(const DaemonOptions& options, FeedSocket& socket,
                                           const std::optional<Identity>& identity) {
  SideProcesses started;
  if (options.tracefs) {
    auto feeder = start_feeder_supervisor(
        socket, options.foreground ? FeederLog::kStderr : FeederLog::kNowhere,
        keep_only_what_traces);
    if (!feeder) return feeder.error();
    started.feeder = std::move(feeder.value());
  }
  std::optional<std::uint64_t> below;
  if (options.over_tracefs) {
    const auto made = mount_tracefs_below(options.mount_point);
    if (!made) return made.error();
    below = made.value();
  }
  if (identity || options.over_tracefs || mounts_by_capability()) {
    auto watchdog = Watchdog::start(socket, options.mount_point, below);
    if (!watchdog) {
      if (below) ::umount2(options.mount_point.c_str(), MNT_DETACH);
      return watchdog.error();
    }
    started.watchdog.emplace(std::move(watchdog.value()));
  }
  return started;
}

void start_log(const DaemonOptions& options) {
  auto place = LogPlace::kSyslog;
  if (options.foreground) {
    place = log_to_terminal_or_journal();  // stdout is for READY
  } else {
    log_to_syslog("tallyfs");
  }
  set_log_level(options.log_level);
  set_keeper_log(options.log_level == "off" ? LogPlace::kNowhere : place);
}

// All that there is before the first thread, or server. In the order in which it is made.
struct Prepared {
  const DaemonOptions& options;
  char** arguments;
  std::optional<Background> background;
  FeedSocket socket;
  SideProcesses side;
  std::optional<StateDirectory> state;
  Mount mount;
  bool is_mounted = true;
};

void report_ready(Prepared& prepared) {
  ::sd_notify(0, "READY=1");
  if (prepared.background) return prepared.background->ready();
  std::puts("READY");
  std::fflush(stdout);
}

void remove_mount(Prepared& prepared) {
  if (!std::exchange(prepared.is_mounted, false)) return;
  ::sd_notify(0, "STOPPING=1");
  DescriptorStore::clear();
  if (!prepared.side.watchdog) return prepared.mount.remove();
  prepared.side.watchdog->clean_up();
  prepared.mount.leave();
}

// A kill says nothing about a server.
bool has_crashed(const Handover& handover) {
  const int status = handover.status();
  return !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
}

// What crashes servers may be in what they keep: the third begins without it, and those behind it
// have what came since.
std::optional<ObjectStore::Opened> open_kept(const Handover& handover) {
  const int memory = handover.kept_fd();
  auto opened = ObjectStore::open(memory, KeptState::kPartKinds);
  const bool is_suspect =
      handover.failures() == Keeper::kFailuresSuspect && has_crashed(handover);
  if (opened && !is_suspect) return std::move(opened.value());
  log_error("what the servers before have kept is left out: " +
            (opened ? "three of them crashed in a row" : opened.error().reason));
  auto made = ObjectStore::format(memory, KeptState::kPartKinds);
  if (made) return ObjectStore::Opened{std::move(made.value()), {}};
  log_error("nothing is kept for the case of a crash: " + made.error().reason);
  return std::nullopt;
}

Predecessors predecessors(Handover* handover) {
  if (!handover) return {};
  Predecessors all{
      .servers = handover->servers(), .last = std::nullopt, .crashes = handover->failures()};
  auto last = Predecessor::read(*handover);
  if (last && *last) all.last.emplace(std::move(last->value()));
  if (last && !*last) log_error("reload: " + last->error().reason);
  all.kept = open_kept(*handover);
  all.queue = &handover->descriptors();
  return all;
}

Result<int> serve(Prepared& prepared, const ServedMount& mount,
                  const std::function<void()>& ready) {
  const DaemonOptions& options = prepared.options;
  const std::string socket_name =
      prepared.socket.path().empty() ? "the socket passed by systemd" : prepared.socket.path();
  Daemon daemon(options, std::move(prepared.socket), std::move(prepared.side.feeder),
                predecessors(mount.handover));
  if (prepared.state) daemon.keep_state(std::move(*prepared.state));
  if (const auto shown = daemon.show(options.subtree); !shown) return shown.error();
  return daemon.run(mount, [&] {
    log_info("mounted on " + options.mount_point + ", listening on " + socket_name);
    ready();
  });
}

int exit_status(const Result<int>& status) {
  if (status) return status.value();
  say_error(status.error().reason);
  return 1;
}

// In the server's process: the keeper removes the mount and the files.
int serve_for_keeper(Prepared& prepared, Handover& handover, const ToKeeper& keeper) {
  keep_to_oneself();
  if (const auto forbidden = forbid_unneeded_calls(); !forbidden) {
    log_warning(forbidden.error().reason);
  }
  prepared.socket.leave_files();
  if (prepared.side.watchdog) prepared.side.watchdog->leave();
  const ServedMount mount{.fd = prepared.mount.fd(),
                          .handover = &handover,
                          .serving = [&] { keeper.say(ToKeeper::Word::kServing); },
                          .take_away = [&] { keeper.say(ToKeeper::Word::kEnding); },
                          .handed_over =
                              [&] {
                                keeper.say(ToKeeper::Word::kHandedOver);
                                ::_exit(0);
                              },
                          .refusal = [&] { return keeper.hear(); }};
  return exit_status(serve(prepared, mount, [&] {
    if (prepared.background) let_go();
    keeper.say(ToKeeper::Word::kReady);
  }));
}

Inheritance inheritance_of(const Prepared& prepared, const Handover& handover) {
  const DaemonOptions& options = prepared.options;
  const SideProcesses& side = prepared.side;
  Inheritance all{.handover = handover.memory_fd(),
                  .handed_state = handover.state_fd(),
                  .descriptors_in = handover.descriptors().in(),
                  .descriptors_out = handover.descriptors().out(),
                  .kept = handover.kept_fd(),
                  .mount = prepared.mount.fd(),
                  .sock_diag = options.sock_diag,
                  .feeder = side.feeder ? side.feeder->get() : -1,
                  .state = prepared.state ? prepared.state->fd() : -1,
                  .socket = prepared.socket.save_for_successor(),
                  .watchdog = {},
                  .owner = options.owner,
                  .has_terminal = options.has_terminal,
                  .mount_point = options.mount_point,
                  .rules_file = options.rules_file,
                  .formats = transfer_formats()};
  if (side.watchdog) all.watchdog = side.watchdog->save_for_successor();
  return all;
}

int keep(Prepared& prepared, Handover& handover, Keeper::Begin begin) {
  ::prctl(PR_SET_NAME, "tallyfs-keeper");
  const Inheritance inheritance = inheritance_of(prepared, handover);
  const NextProgram program(prepared.arguments, inheritance);
  // Nothing of a mount that hides another: the next start would have to tell the two apart.
  const DescriptorStore store(prepared.options.over_tracefs ? Inheritance() : inheritance);
  if (begin == Keeper::Begin::kReady) store.put();
  Keeper keeper(handover,
                {.serve =
                     [&](const ToKeeper& to_keeper) {
                       ::prctl(PR_SET_NAME, "tallyfs");
                       return serve_for_keeper(prepared, handover, to_keeper);
                     },
                 .ready =
                     [&] {
                       store.put();
                       report_ready(prepared);
                     },
                 .unmount = [&] { remove_mount(prepared); },
                 .is_gone = [&] { return prepared.mount.is_gone(); },
                 .gives_up = log_end,
                 .check_program = [&] { program.check(); },
                 .become_program =
                     [&] {
                       program.resume();
                       log_no_program(errno);
                     },
                 .refuses_program = log_refused_program},
                begin);
  return keeper.run();
}

Result<int> keep_anew(Prepared& prepared) {
  auto handover = Handover::create();
  if (!handover) return handover.error();
  return keep(prepared, handover.value(), Keeper::Begin::kUnready);
}

// The last server was killed with its keeper.
int keep_stored(Prepared& prepared, Handover& handover) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  handover.note_end(SIGKILL, 0, now / std::chrono::nanoseconds(1));
  return keep(prepared, handover, Keeper::Begin::kUnready);
}

Result<int> serve_alone(Prepared& prepared) {
  const ServedMount mount{.fd = prepared.mount.fd(),
                          .handover = nullptr,
                          .serving = [] {},
                          .take_away = [&] { remove_mount(prepared); },
                          .handed_over = [] {}};
  return serve(prepared, mount, [&] { report_ready(prepared); });
}

GivesFiles gives_files(const std::optional<StateDirectory>& state) {
  return state && state->is_of_another() ? GivesFiles::kYes : GivesFiles::kNo;
}

// The mount is made with all rights, and served with those that are left.
Result<Mount> mount(const DaemonOptions& options, const std::optional<Identity>& identity,
                    std::optional<Watchdog>& watchdog, std::optional<StoredMount>& stored,
                    GivesFiles gives) {
  auto mount = stored ? Mount::adopt(std::move(stored->fd), options.mount_point)
                      : Mount::make(options.mount_point, options.mount_options);
  if (!mount) return mount.error();
  if (watchdog) watchdog->mounted();
  // A server that has changed its identity could not take that back for itself.
  if (options.keeper && !identity) Keeper::avoid_oom_kill();
  const auto executes = options.keeper ? Executes::kOwnProgram : Executes::kNothing;
  const auto dropped = drop_privileges(identity, executes, gives);
  if (!dropped) return dropped.error();
  return mount;
}

// Of root's daemon where the service would be, which finds later what this one has kept.
std::optional<StateDirectory> open_default_state(const DaemonOptions& options,
                                                 const std::optional<Identity>& identity) {
  if (options.no_state || ::geteuid() != 0 || !options.subtree.empty()) return std::nullopt;
  if (identity || options.mount_point != kDefaultMountPoint) {
    log_info(std::string("nothing is kept for the next start without --state DIR") +
             (identity ? "" : "; with --run-as tallyfs the daemon gives up root's rights"));
    return std::nullopt;
  }
  auto directory = StateDirectory::open_of_any_owner(kDefaultState);
  if (!directory) {
    log_info("nothing is kept for the next start: " + directory.error().reason);
    return std::nullopt;
  }
  log_info(std::string("state is kept in ") + kDefaultState + "; --no-state keeps none");
  return std::move(directory.value());
}

Result<std::optional<StateDirectory>> open_state(const DaemonOptions& options,
                                                 const std::optional<Identity>& identity) {
  if (options.state.empty()) return open_default_state(options, identity);
  auto directory = StateDirectory::open(options.state, identity);
  if (!directory) return directory.error();
  if (const auto writable = directory.value().check_writable(); !writable) {
    const std::string warning = "warning: " + writable.error().reason;
    log_warning(warning);
    if (!options.foreground) say_error(warning);
  }
  return std::optional(std::move(directory.value()));
}

// In the background, the working directory is another. The server reads the file.
void find_rules_file(DaemonOptions& options) {
  std::error_code error;
  const std::string absolute = absolute_path(options.rules_file, error);
  if (!error) options.rules_file = absolute;
}

Result<void> find_groups_of(DaemonOptions& options) {
  const auto groups = find_groups(options.group, options.write_group);
  if (!groups) return groups.error();
  options.groups.readers = groups.value().readers;
  options.groups.writers = groups.value().writers;
  return {};
}

// A mount that is not served must not be looked at.
Result<Stored> find_mount(DaemonOptions& options, std::vector<StoredDescriptor> passed) {
  const auto path = absolute_mount_point(options.mount_point);
  if (!path) return path.error();
  const bool was_stored = !passed.empty();
  options.mount_point = path.value();
  Stored stored = take_stored(std::move(passed), options);
  if (stored.mount) return stored;
  const bool cleans_up = options.auto_unmount || options.over_tracefs || was_stored;
  auto mount_point =
      prepare_mount_point(options.mount_point, cleans_up ? Leftover::kCleanUp : Leftover::kReport);
  if (!mount_point) return mount_point.error();
  return stored;
}

Result<void> prepare(DaemonOptions& options) {
  ignore_signals();
  options.has_terminal = options.foreground && has_terminal();
  if (const auto found = find_groups_of(options); !found) return found.error();
  if (!options.rules_file.empty()) {
    find_rules_file(options);
    // Without them, what they would have made is missing.
    if (const auto rules = read_rules(options.rules_file); !rules) {
      return Error{rules.error().code, "--rules: " + rules.error().reason};
    }
  }
  if (options.tracefs) {
    const auto readable = check_tracefs();
    if (!readable) say_error("warning: --tracefs: " + readable.error().reason);
  }
  return {};
}

// As run(), in the process of a keeper whose server has handed over.
Result<int> resume(DaemonOptions options, char** arguments, const Inheritance& from) {
  if (const auto found = find_groups_of(options); !found) return found.error();
  const bool is_check = from.purpose == Inheritance::Purpose::kCheck;
  if (is_check) {
    if (const auto read = check_handed_formats(from.formats); !read) return read.error();
  }
  if (is_check && !from.rules_file.empty()) {
    if (const auto rules = read_rules(from.rules_file); !rules) return rules.error();
  }
  if (is_check && from.handover < 0) return 0;
  auto descriptors = DescriptorQueue::adopt(Fd(from.descriptors_in), Fd(from.descriptors_out));
  if (!descriptors) return descriptors.error();
  auto handover = Handover::adopt(Fd(from.handover), Fd(from.handed_state), Fd(from.kept),
                                  std::move(descriptors.value()));
  if (!handover) return handover.error();
  if (is_check) {
    ProgramCheck::answer(TALLYFS_VERSION);
    return 0;
  }
  for (const int fd : descriptors_of(from)) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  options.owner = from.owner;
  options.mount_point = from.mount_point;
  options.rules_file = from.rules_file;
  options.has_terminal = from.has_terminal;
  options.sock_diag = from.sock_diag;
  ignore_signals();
  start_log(options);
  std::optional<StateDirectory> state;
  if (from.state >= 0) state.emplace(StateDirectory::adopt(Fd(from.state)));
  if (::geteuid() == 0) {
    const auto dropped = keep_only_what_unmounts(Executes::kOwnProgram, gives_files(state));
    if (!dropped) return dropped.error();
  }
  Prepared prepared{options,
                    arguments,
                    std::nullopt,
                    FeedSocket::take_over(from.socket),
                    SideProcesses{},
                    std::move(state),
                    Mount::adopt(Fd(from.mount), from.mount_point)};
  if (from.feeder >= 0) prepared.side.feeder = Fd(from.feeder);
  if (!from.watchdog.empty()) {
    prepared.side.watchdog.emplace(Watchdog::take_over(from.mount_point, from.watchdog));
  }
  const int status = keep(prepared, handover.value(), Keeper::Begin::kReady);
  remove_mount(prepared);
  return status;
}

Result<int> run(DaemonOptions options, char** arguments) {
  const auto identity = identity_for(options.run_as);
  if (!identity) return identity.error();
  auto passed = find_passed_sockets();
  if (!passed) return passed.error();
  options.sock_diag = passed.value().sock_diag.value_or(-1);
  auto stored = find_mount(options, std::move(passed.value().stored));
  if (!stored) return stored.error();
  auto& [stored_mount, stored_socket] = stored.value();
  if (const auto prepared = prepare(options); !prepared) return prepared.error();
  std::optional<Background> background;
  if (!options.foreground) background = Background::enter();
  auto socket =
      stored_socket ? FeedSocket::take_over(*stored_socket) : open_socket(options, passed.value());
  if (!socket) return socket.error();
  auto side = start_side_processes(options, socket.value(), identity.value());
  if (!side) return side.error();
  start_log(options);
  report_queue(socket.value(), options);
  allow_descriptors();
  auto state = open_state(options, identity.value());
  if (!state) return state.error();
  auto made = mount(options, identity.value(), side.value().watchdog, stored_mount,
                    gives_files(state.value()));
  if (!made) return made.error();
  Prepared prepared{options,
                    arguments,
                    std::move(background),
                    std::move(socket.value()),
                    std::move(side.value()),
                    std::move(state.value()),
                    std::move(made.value())};
  auto status = stored_mount     ? keep_stored(prepared, stored_mount->handover)
                : options.keeper ? keep_anew(prepared)
                                 : serve_alone(prepared);
  remove_mount(prepared);
  return status;
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) {
  const tallyfs::ParsedOptions parsed = tallyfs::parse_options(argc, argv);
  if (!parsed.options) return parsed.exit_status;
  if (parsed.options->reload) {
    const auto done = tallyfs::reload(parsed.options->mount_point);
    if (!done) return tallyfs::exit_status(done.error());
    if (done.value() == tallyfs::Reloaded::kWhole) return 0;
    tallyfs::say_error("the new server runs, but without the lines of --rules above");
    return tallyfs::kRulesRefusedStatus;
  }
  const auto inheritance = tallyfs::take_inheritance();
  if (!inheritance) return tallyfs::exit_status(tallyfs::run(*parsed.options, argv));
  if (!*inheritance) return tallyfs::exit_status(inheritance->error());
  return tallyfs::exit_status(tallyfs::resume(*parsed.options, argv, inheritance->value()));
}
