// The daemon: the parts of tallyfs, made in order and put together. The main thread runs the intake
// and waits for signals; the session's threads answer the kernel.
//
// Confined to the main thread.
#pragma once

#include <atomic>
#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
#include "fs/daemon/branches.h"
#include "fs/daemon/counter_clock.h"
#include "fs/daemon/kept_state.h"
#include "fs/daemon/kernel_events.h"
#include "fs/daemon/kernel_feeder/ordered_feeder.h"
#include "fs/daemon/mount_watch.h"
#include "fs/daemon/options.h"
#include "fs/daemon/predecessor.h"
#include "fs/daemon/state_directory.h"
#include "fs/daemon/state_saver.h"
#include "fs/keeper/handover.h"
#include "fs/operations.h"
#include "fs/session.h"

namespace tallyfs {

// The mount that the daemon serves.
struct ServedMount {
  int fd = -1;                      // of /dev/fuse
  Handover* handover = nullptr;     // from the servers before; none: there is no keeper
  std::function<void()> serving;    // requests are answered; called on any thread
  std::function<void()> take_away;  // removes the mount
  // The state is left in the handover: ends this process, without cleaning up.
  std::function<void()> handed_over;
  // Why the keeper's last SIGUSR1 was sent: the program on disk refused.
  std::function<std::string()> refusal = {};
};

// The servers of this mount before this one.
struct Predecessors {
  std::uint64_t servers = 0;                       // how many
  std::optional<Predecessor> last;                 // if it has left something
  int crashes = 0;                                 // of them in a row, until now
  std::optional<ObjectStore::Opened> kept = {};  // nothing: there is no keeper, or no memory
  const DescriptorQueue* queue = nullptr;        // which the keeper has, and outlives the daemon
};

class Daemon {
 public:
  // options outlive the daemon. feeder: the channel to the supervisor of the kernel's feeder;
  // nothing: the kernel's events are not read.
  Daemon(const DaemonOptions& options, FeedSocket socket, std::optional<Fd> feeder,
         Predecessors before);

  // Saves in the directory from run() on, and loads what it has, if no server before has left its
  // state. Called once, before run().
  void keep_state(StateDirectory directory);
  // Mounts the directory of this path instead of the whole tree. kNotFound.
  Result<void> show(const std::string& subtree);

  // Serves until a signal or an unmount. ready is called on this thread when tree and socket can be
  // used. Returns the exit status: kNotSaved, if the state could not be saved at the end.
  static constexpr int kNotSaved = 3;
  int run(const ServedMount& mount, const std::function<void()>& ready);

 private:
  // Those of what the server before has left; see daemon_handover.cpp.
  void expect_nodes();
  void take_state(const std::string& from, const StateFile& file, const Loading& loading);
  void take_reload();
  void keep_for_successor(ObjectStore::Opened kept);
  // killed: the boot of what the server before has kept; nothing: it has left nothing, or all.
  void take_journal(std::optional<Boot> killed, int crashes);
  // before: what the servers before have kept, in a memory of which nothing else is needed.
  void take_open_files(const std::vector<SavedObject>& before, bool is_after_kill);
  void report_missed(std::uint64_t records);
  void report_replay(const Intake::Replayed& replayed, Timestamp begun);
  void report_loaded(const std::string& from, const LoadedState& loaded);
  void enter_expected();
  std::vector<NodeId> resume(Notifier& notifier);
  // The file of --rules, if there is one.
  void take_rules();
  Pages take_pages();
  std::vector<TransferredPart*> handed_parts();
  void make_feeder(std::optional<Fd> channel);
  void make_branches();
  DaemonFacts facts() const;
  void make_intake();
  void start_feeder();
  void count_takeovers(const Handover& handover);
  void note_refused(const Session::Refused& refused);
  void note_takeover(const Handover& handover);
  void serve();
  void end_ways();
  int end(Session& session);
  void refuse_senders();
  int hand_over(Session& session, const ServedMount& mount);
  void take_signal(int signal);
  void take_end(int signal);
  void take_refusal();
  // Called when the mount is ready, and when the feeder is, if the kernel's events are read.
  void part_is_ready();
  ProcessEnds::Heard process_ended(const Sender& process);

  static constexpr NodeId first_node(std::uint64_t servers) {
    return (servers << kNodesShift) + Tree::kFirst;
  }
  // Each server numbers its nodes from its own multiple of this on.
  static constexpr unsigned kNodesShift = 40;

  // In the order in which they are made; each is destroyed before those that it refers to.
  const DaemonOptions& options_;
  std::optional<Predecessor> predecessor_;  // until run() serves
  std::optional<StateFile> kept_before_;    // until the constructor ends
  std::optional<HeldInQueue> held_;
  TransferredFds descriptors_;
  bool has_nodes_ = false;                  // its numbers of nodes are those of the tree
  ProgramClock clock_;
  EventLoop loop_;
  FeedSocket socket_;
  bool has_pages_ = false;  // of the server before; set with the next
  Pages pages_;
  ProcessEnds processes_;
  Ledger ledger_;
  Tree tree_;
  std::shared_ptr<ErrorHistory> error_history_;  // shared with the tree
  std::shared_ptr<ErrorLog> errors_;             // shared with the tree
  std::unique_ptr<OrderedFeeder> feeder_;
  InputJournal journal_;  // not open: there is none
  std::unique_ptr<Branches> branches_;
  const std::unique_ptr<CounterTimes> counter_ = make_counter_clock();
  std::optional<Lanes> lanes_;
  std::unique_ptr<Intake> intake_;
  std::unique_ptr<KernelEvents> kernel_events_;
  std::unique_ptr<Operations> operations_;
  std::optional<MountWatch> mount_watch_;
  std::optional<KeptState> kept_;    // nothing: there is no keeper
  // To feeders, when something was taken in last: on the loop's thread, or on that of a reader.
  std::atomic<std::uint64_t> numbers_given_{0};
  bool has_kept_ = false;            // what the server before has kept is loaded
  std::optional<StateSaver> state_;  // nothing: nothing outlives the daemon
  // Processes that have ended and whose lanes are taken; more of them is left.
  boost::unordered_flat_set<pid_t> ended_;
  std::function<void()> ready_;
  std::function<std::string()> refusal_;  // see ServedMount
  bool is_handing_over_ = false;
  std::uint64_t taken_at_end_ = 0;  // datagrams
  int unready_parts_ = 0;
};

}  // namespace tallyfs
