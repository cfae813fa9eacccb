// The daemon: the parts of tallyfs, made in order and put together. The main thread runs the intake
// and waits for signals; the session's threads answer the kernel.
//
// Confined to the main thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/fd.h"
#include "core/base/ledger.h"
#include "core/base/result.h"
#include "core/tree/error_log.h"
#include "core/tree/tree.h"
#include "feeders/clock/program_clock.h"
#include "feeders/intake/event_loop.h"
#include "feeders/intake/feed_socket.h"
#include "feeders/intake/intake.h"
#include "feeders/intake/lanes.h"
#include "feeders/intake/process_ends.h"
#include "feeders/intake/switch_page.h"
#include "fs/daemon/branches.h"
#include "fs/daemon/kernel_events.h"
#include "fs/daemon/kernel_feeder/ordered_feeder.h"
#include "fs/daemon/mount_watch.h"
#include "fs/daemon/options.h"
#include "fs/daemon/privileges.h"
#include "fs/daemon/state_directory.h"
#include "fs/daemon/state_saver.h"
#include "fs/daemon/watchdog.h"
#include "fs/operations.h"

namespace tallyfs {

// The identity with which the mount is served, and the process that cleans up behind it.
struct Successor {
  std::optional<Identity> identity;
  Watchdog* watchdog = nullptr;

  Result<void> take_over() const;
};

class Daemon {
 public:
  // options outlive the daemon. feeder: the channel to the supervisor of the kernel's feeder;
  // nothing: the kernel's events are not read.
  Daemon(const DaemonOptions& options, FeedSocket socket, std::optional<Fd> feeder);

  // Loads what the directory has, and saves there from run() on. Called once, before run().
  void keep_state(StateDirectory directory);
  // Mounts the directory of this path instead of the whole tree. kNotFound.
  Result<void> show(const std::string& subtree);

  // Mounts, takes the successor's identity, and serves until a signal or an unmount. ready is
  // called on this thread when tree and socket can be used. Returns the exit status.
  int run(const Successor& successor, const std::function<void()>& ready);

 private:
  // The file of --rules, if there is one.
  void take_rules();
  void make_feeder(std::optional<Fd> channel);
  void make_branches();
  DaemonFacts facts() const;
  void make_intake();
  void start_feeder();
  void serve();
  void take_signal(int signal);
  // Called when the mount is ready, and when the feeder is, if the kernel's events are read.
  void part_is_ready();
  void process_ended(pid_t process);

  // In the order in which they are made; each is destroyed before those that it refers to.
  const DaemonOptions& options_;
  ProgramClock clock_;
  EventLoop loop_;
  FeedSocket socket_;
  std::optional<SwitchPage> switches_;
  std::optional<ShapePage> shapes_;
  ProcessEnds processes_;
  Ledger ledger_;
  Tree tree_;
  std::shared_ptr<ErrorLog> errors_;  // shared with the tree
  std::unique_ptr<OrderedFeeder> feeder_;
  const std::uint64_t epoch_ = Dispatcher::draw_epoch();
  std::unique_ptr<Branches> branches_;
  std::optional<Lanes> lanes_;
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<KernelEvents> kernel_events_;
  std::unique_ptr<Operations> operations_;
  std::optional<MountWatch> mount_watch_;
  std::optional<StateSaver> state_;  // nothing: nothing outlives the daemon
  std::function<void()> ready_;
  int unready_parts_ = 0;
};

}  // namespace tallyfs
