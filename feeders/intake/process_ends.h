// Hears of the end of processes by their pidfds (Linux 5.3), one for each process watched; at most
// kProcessesMax, and kProcessesOfUidMax for a uid that is not root's. A tenth is kept for root and
// the daemon's uid (core/base/quota_reserve.h).
//
// The pidfds go to the next server of the mount, so that it hears of an end that came
// meanwhile, and of no other process with the same number. It hears of an end again if this one
// was killed before it had saved what followed from it.
//
// Thread-safe. on_end is called on the event loop's thread, with the uid of watch(), again and
// again in turn with others' work until it says that it is done. Until then the process is watched,
// also by the next server.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/base/mutex.h"
#include "core/base/quota_reserve.h"
#include "core/branch/command.h"
#include "core/branch/process_watch.h"
#include "core/branch/transferred_part.h"
#include "feeders/intake/event_loop.h"
#include "feeders/intake/fair_share/budgets.h"

namespace tallyfs {

class ProcessEnds final : public ProcessWatch, public TransferredPart {
 public:
  static constexpr std::size_t kProcessesMax = 1024;
  static constexpr std::size_t kProcessesOfUidMax = 256;

  // kLater: again, but not before kPause, in which Budgets::held_ends is refilled by kLeast.
  enum class Heard { kDone, kAgain, kLater };
  static constexpr std::chrono::milliseconds kPause = Budgets::kLeast * Budgets::kHeldEndsShare;

  // The loop outlives this; on_end may be called until then, once the loop runs. owner: the
  // daemon's uid.
  ProcessEnds(EventLoop& loop, uid_t owner, std::function<Heard(const Sender&)> on_end)
      : loop_(loop), reserve_(owner), on_end_(std::move(on_end)) {}

  // Before others use it: what becomes readable at the end of a process, as open() has it. Not
  // valid: see errno.
  using Open = std::function<Fd(pid_t process)>;
  void open_by(Open open) { open_ = std::move(open); }
  // From now on the next server is told of all that is watched, whenever this one ends.
  void keep_with(PartKeeper& keeper) { keeper_ = &keeper; }

  Result<void> watch(pid_t process, uid_t uid) override EXCLUDES(mutex_);
  bool watches(pid_t process) const override EXCLUDES(mutex_);

  SavedKinds objects() const override { return saved_kinds(SavedKind::kProcesses); }
  void save_for_successor(ObjectSink& sink, TransferredFds& descriptors) override EXCLUDES(mutex_);
  Result<void> load(const SavedObject& object, const Loading& loading,
                    TransferredFds& descriptors) override EXCLUDES(mutex_);
  void begin_save() override EXCLUDES(mutex_);
  void end_save(ObjectSink& sink, TransferredFds& descriptors) override EXCLUDES(mutex_);

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;

  struct Watched {
    uid_t uid = 0;
    // Shared with the wait that is going on, which dies last.
    std::shared_ptr<Descriptor> pidfd;
  };

  // Its pidfd.
  static Fd open(pid_t process);
  Result<void> check_room(uid_t uid) const REQUIRES(mutex_);
  // The pidfd of a process that is watched from now on. False: one is already.
  Result<bool> watch(pid_t process, uid_t uid, Fd fd) EXCLUDES(mutex_);
  void wait_for(const Sender& process, const std::shared_ptr<Descriptor>& pidfd);
  void wait_for_later(const Sender& process, const std::shared_ptr<Descriptor>& pidfd);
  // The server before has watched it, and this one cannot: it is as if it had ended.
  void end_unwatched(const Sender& process);
  // False: the sink takes no more.
  enum class Ended { kAll, kNotSaved };
  bool put(ObjectSink& sink, TransferredFds& descriptors, Ended which) EXCLUDES(mutex_);
  static bool has_ended(int pidfd);
  void note_heard(pid_t process) EXCLUDES(mutex_);

  EventLoop& loop_;
  const QuotaReserve reserve_;
  const std::function<Heard(const Sender&)> on_end_;
  Open open_ = &ProcessEnds::open;
  mutable Mutex mutex_{LockRank::kProcessEnds};
  boost::unordered_flat_map<pid_t, Watched> watched_ GUARDED_BY(mutex_);
  // Whose end is done with, and not saved yet; of them, those before the save that goes on.
  std::vector<std::pair<pid_t, Watched>> ended_ GUARDED_BY(mutex_);
  std::size_t saved_ends_ GUARDED_BY(mutex_) = 0;
  PartKeeper* keeper_ = nullptr;  // nothing is kept
};

}  // namespace tallyfs
