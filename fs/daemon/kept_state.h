// Keeps the state of the branches in a memory of the keeper (fs/store), from which the next server
// takes it when this one is killed or crashes: what a control write has changed before the write is
// answered, all else within kPause while the daemon has something to do.
//
// A kill is then what a reload is, from the last save: the successor finds the same epoch, pages,
// lanes and watched processes, and feeders notice nothing (docs/keeper.md). What makes that exact:
// * A statistic's own sums, what its cells held when they were read, and which cells it has taken
//   out of lanes that ended are of one moment, and one version of one object. The successor binds
//   the other cells again, in the same era, and reads what they hold now: it counts once.
// * A lane, a page of tails, a binding and a watched process are written through before the feeder
//   is told. One that has ended stays, with its descriptor, until a save that began after its end
//   is done: until then some statistic may be saved that has not taken its cells. It goes, too,
//   when something else could not be saved: then a kill may lose what was counted in it.
// * What commands of the socket have changed is written before they are answered: statistics as
//   changes of their interface, which the loader puts into it if they are newer, or the interface.
// * A number that was given since the last save, otherwise than by these, is void: the page of
//   switches tells which were. Its feeder registers again. So a save follows soon when numbers were
//   given.
// * An era that was begun and not saved (a write or command whose answer was not sent) is over: the
//   statistic has its old definition, with what its cells held at the last save, and one more era
//   begins.
// * A save in steps, of a large interface, is one object, written when all of it is there.
//
// A thread of its own saves, object by object, what has changed. It sleeps while nothing comes in,
// and uses 1/kShare of a CPU at most, so that a large state is saved less often, unless the journal
// becomes full (note_urgent()). What feeders add to cells is no reason to save: it stays in the
// lanes, which the successor reads. Contents that take long, those of histograms, are saved in a
// run of their own, for which no control write waits. Measured: docs/scale.md.
//
// start() and stop() belong to the thread that made it; the other functions are for any thread.
// write_through() waits at most for the save of one branch without its long contents; in a server
// with another epoch than that before, for the first save of all.
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
#include "core/branch/transferred_part.h"
#include "core/tree/error_log.h"
#include "fs/store/object_store.h"

namespace tallyfs {

class KeptState final : public PartKeeper {
 public:
  static constexpr std::chrono::milliseconds kPause{1000};
  // The same when it is to come soon.
  static constexpr std::chrono::milliseconds kShortPause{20};
  static constexpr int kShare = 5;

  // All outlive the state that is kept.
  struct Dependencies {
    std::span<Branch* const> branches;
    DaemonCounters& counters;
    ErrorLog& errors;
    const Clock& clock;
    // What feeders share with the daemon. In the order in which they are loaded.
    std::vector<TransferredPart*> handed;
    TransferredFds& descriptors;
  };

  // Of the objects in the memory.
  static constexpr PartKinds kPartKinds{
      .part = static_cast<std::uint16_t>(SavedKind::kFedChanges),
      .whole = static_cast<std::uint16_t>(SavedKind::kFedInterface)};
  // The state that the last server has kept, for load_state(). Nothing: it was killed before
  // it had saved all objects once.
  static std::optional<StateFile> kept_before(const ObjectStore::Contents& contents);
  // Whether it is there.
  static bool has_mark(const ObjectStore::Contents& contents);

  KeptState(std::unique_ptr<ObjectStore> store, const Dependencies& dependencies,
            const BootId& boot);
  // Ends the thread. What is in the memory stays.
  ~KeptState() override { stop(); }
  KeptState(const KeptState&) = delete;
  KeptState& operator=(const KeptState&) = delete;

  void start();
  // Cuts a save that is under way.
  void stop();

  // Something may have changed.
  void note_work() {
    if (!has_work_.load(std::memory_order_relaxed)) wake();
  }
  // The same, and the next save comes soon: feeders were told new numbers.
  void note_soon();
  // The same at once, whatever share of a CPU that takes.
  void note_urgent();
  // A control write has changed something at this path: returns when it is saved. Empty: the path
  // is not known, and it is saved as all else is. False: it is not saved yet.
  bool write_through(std::string_view path);
  // The same of what commands have changed in a branch, which `put` puts. False: all was saved
  // instead, as nothing was saved before.
  bool write_through(const Branch& branch, const std::function<void(ObjectSink& sink)>& put);
  // As PartKeeper.
  TransferredFds& descriptors() override { return dependencies_.descriptors; }
  void write_through(TransferredPart& part) override EXCLUDES(parts_mutex_);
  void put(const SavedObject& object) override;
  void remove(SavedKind kind, std::string_view label) override;
  void note_end() override { note_soon(); }
  // Saves what has changed; one call at a time. False: not all of it, and the log says so.
  bool save_all() EXCLUDES(saving_mutex_);
  // Before others use it: bindings of lanes that the server before had, and this one has not, go;
  // and what the parts have now replaces what they had.
  void remove_lost_bindings(const ObjectStore::Contents& before);
  void write_parts() EXCLUDES(parts_mutex_);
  // The same of the tables of numbers, which leave out what may have been given behind the last
  // save: should this server be killed before its first one, the next leaves that out, too.
  void write_numbers();
  // Learns which interfaces the memory has. It has the state of the server before, which this one
  // goes on with, in the same epoch: what is changed now may be written there before all is saved
  // once.
  void resume();
  // The saved state is older than a file of --state: the next server does not load it, unless
  // save_all() has succeeded before then.
  void withdraw();

 private:
  class RunSink;
  class PathSink;
  class NumbersSink;
  class KnownSink;
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
  void begin_parts() REQUIRES(saving_mutex_) EXCLUDES(parts_mutex_);
  Result<void> save_parts() REQUIRES(saving_mutex_) EXCLUDES(parts_mutex_);
  Result<void> put_mark();

  const std::unique_ptr<ObjectStore> store_;
  const Dependencies dependencies_;
  const BootId boot_;
  std::vector<std::unique_ptr<Kept>> kept_;
  Mutex saving_mutex_{LockRank::kKeptSaving};  // the parts know of one save at a time
  Mutex parts_mutex_{LockRank::kKeptParts};    // while one is put: the later one has all
  std::atomic<bool> has_work_{true};
  std::atomic<bool> is_failing_{false};  // and the log says so
  std::atomic<bool> has_mark_{false};    // the next server may take what is in the memory
  std::atomic<bool> is_ending_{false};
  std::atomic<bool> had_long_object_{false};  // since memory was given back last
  Fd stop_;                              // an eventfd, readable when the thread shall end
  Fd work_;                              // and when there is something to do
  Fd soon_;                              // and to do it soon
  Fd urgent_;                            // and to do it at once
  std::thread thread_;
};

}  // namespace tallyfs
