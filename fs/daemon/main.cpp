// tallyfs: the steps before there are threads. Sockets, side processes and the log are made here;
// then the Daemon runs.
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>

#include "feeders/intake/feed_socket.h"
#include "feeders/intake/process_ends.h"
#include "fs/daemon/background.h"
#include "fs/daemon/daemon.h"
#include "fs/daemon/kernel_feeder/feeder_supervisor.h"
#include "fs/daemon/kernel_feeder/tracefs_access.h"
#include "fs/daemon/log.h"
#include "fs/daemon/mount_point.h"
#include "fs/daemon/options.h"
#include "fs/daemon/privileges.h"
#include "fs/daemon/socket.h"
#include "fs/daemon/tracefs_below.h"
#include "fs/daemon/watchdog.h"
#include "log/log.h"

namespace tallyfs {
namespace {

// A watched process takes a descriptor, and the usual limit is 1,024 of them in all.
void allow_descriptors() {
  constexpr rlim_t kDescriptors = ProcessEnds::kProcessesMax + 256;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kDescriptors));
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
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
  if (options.foreground) {
    log_to_terminal_or_journal();  // stdout is for READY
  } else {
    log_to_syslog("tallyfs");
  }
  set_log_level(options.log_level);
}

void report_ready(std::optional<Background>& background) {
  ::sd_notify(0, "READY=1");
  if (background) return background->ready();
  std::puts("READY");
  std::fflush(stdout);
}

Result<int> run(DaemonOptions options) {
  const bool cleans_up = options.auto_unmount || options.over_tracefs;
  auto mount_point =
      prepare_mount_point(options.mount_point, cleans_up ? Leftover::kCleanUp : Leftover::kReport);
  if (!mount_point) return mount_point.error();
  options.mount_point = mount_point.value();
  std::signal(SIGPIPE, SIG_IGN);
  options.has_terminal = options.foreground && has_terminal();
  const auto identity = identity_for(options.run_as);
  if (!identity) return identity.error();
  const auto groups = find_groups(options.group, options.write_group);
  if (!groups) return groups.error();
  options.groups.readers = groups.value().readers;
  options.groups.writers = groups.value().writers;
  const auto passed = find_passed_sockets();
  if (!passed) return passed.error();
  options.sock_diag = passed.value().sock_diag.value_or(-1);
  if (options.tracefs) {
    const auto readable = check_tracefs();
    if (!readable) say_error("warning: --tracefs: " + readable.error().reason);
  }
  std::optional<Background> background;
  if (!options.foreground) background = Background::enter();
  auto socket = open_socket(options, passed.value());
  if (!socket) return socket.error();
  auto side = start_side_processes(options, socket.value(), identity.value());
  if (!side) return side.error();
  start_log(options);
  report_queue(socket.value(), options);
  allow_descriptors();

  const std::string socket_name =
      socket.value().path().empty() ? "the socket passed by systemd" : socket.value().path();
  Daemon daemon(options, std::move(socket.value()), std::move(side.value().feeder));
  if (!options.state.empty()) {
    auto directory = StateDirectory::open(options.state, identity.value());
    if (!directory) return directory.error();
    daemon.keep_state(std::move(directory.value()));
  }
  if (const auto shown = daemon.show(options.subtree); !shown) return shown.error();
  auto& watchdog = side.value().watchdog;
  return daemon.run({identity.value(), watchdog ? &*watchdog : nullptr}, [&] {
    log_info("mounted on " + options.mount_point + ", listening on " + socket_name);
    report_ready(background);
  });
}

}  // namespace
}  // namespace tallyfs

int main(int argc, char** argv) {
  const tallyfs::ParsedOptions parsed = tallyfs::parse_options(argc, argv);
  if (!parsed.options) return parsed.exit_status;
  const auto status = tallyfs::run(*parsed.options);
  if (status) return status.value();
  tallyfs::say_error(status.error().reason);
  return 1;
}
