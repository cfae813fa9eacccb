// Keeps the state of the branches in a memory of the keeper (fs/store), from which the next server
// takes it when this one is killed or crashes: what a control write has changed before the write is
// answered, all else within kPause while the daemon has something to do.
//
// A thread of its own saves, object by object, what has changed. It sleeps while nothing comes in
// and no feeder has cells, and uses 1/kShare of a CPU at most, so that a large state is saved less
// often. Contents that take long, those of histograms, are saved in a run of their own, for which
// no control write waits. Measured: docs/scale.md.
//
// start() and stop() belong to the thread that made it; the other functions are for any thread.
// write_through() waits at most for the save of one branch without its long contents; after a
// start, for the first save of all.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/boot.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/mutex.h"
#include "core/branch/branch.h"
#include "core/branch/daemon_counters.h"
#include "core/branch/state.h"
#include "core/tree/error_log.h"
#include "fs/store/object_store.h"

namespace tallyfs {

class KeptState {
 public:
  static constexpr std::chrono::milliseconds kPause{1000};
  static constexpr int kShare = 5;

  // All outlive the state that is kept.
  struct Parts {
    std::span<Branch* const> branches;
    DaemonCounters& counters;
    ErrorLog& errors;
    const Clock& clock;
    // Whether feeders may count in cells, of which note_work() does not hear.
    std::function<bool()> has_cells;
  };

  // The state that the last server has kept, for load_state(). Nothing: it was killed before
  // it had saved all objects once.
  static std::optional<StateFile> kept_before(const ObjectStore::Contents& contents);

  KeptState(std::unique_ptr<ObjectStore> store, const Parts& parts, const BootId& boot);
  // Ends the thread. What is in the memory stays.
  ~KeptState() { stop(); }
  KeptState(const KeptState&) = delete;
  KeptState& operator=(const KeptState&) = delete;

  void start();
  // Cuts a save that is under way.
  void stop();

  // Something may have changed.
  void note_work() {
    if (!has_work_.load(std::memory_order_relaxed)) wake();
  }
  // A control write has changed something at this path: returns when it is saved. Empty: the path
  // is not known, and it is saved as all else is.
  void write_through(std::string_view path);
  // Saves what has changed. False: not all of it, and the log says so.
  bool save_all();
  // The saved state is older than a file of --state: the next server does not load it, unless
  // save_all() has succeeded before then.
  void withdraw();

 private:
  class RunSink;
  class PathSink;
  enum class Which { kShort, kLong };
  // A branch of which objects are saved, one run of each kind at a time.
  struct Kept {
    explicit Kept(Branch* of) : branch(of) {}

    Branch* const branch;
    Mutex short_mutex{LockRank::kKeptState};
    Mutex long_mutex{LockRank::kKeptContents};
    // Branch::stamp() of what the memory has: without long contents, and of those.
    std::optional<std::uint64_t> short_stamp GUARDED_BY(short_mutex);
    std::optional<std::uint64_t> long_stamp GUARDED_BY(long_mutex);
  };

  void keep_saving();
  Result<void> save_short(Kept& kept) EXCLUDES(kept.short_mutex);
  Result<void> save_long(Kept& kept) EXCLUDES(kept.long_mutex);
  Result<void> save(const Branch& branch, Which which, std::optional<std::uint64_t>& saved);
  bool wait(std::optional<std::chrono::milliseconds> time, int fd) const;
  void wake();
  void note_saved();
  void report(const Result<void>& done);
  Result<void> put_mark();

  const std::unique_ptr<ObjectStore> store_;
  const Parts parts_;
  const BootId boot_;
  std::vector<std::unique_ptr<Kept>> kept_;
  std::atomic<bool> has_work_{true};
  std::atomic<bool> is_failing_{false};  // and the log says so
  std::atomic<bool> has_mark_{false};    // the next server may take what is in the memory
  std::atomic<bool> is_ending_{false};
  std::atomic<bool> had_long_object_{false};  // since memory was given back last
  Fd stop_;                              // an eventfd, readable when the thread shall end
  Fd work_;                              // and when there is something to do
  std::thread thread_;
};

}  // namespace tallyfs
