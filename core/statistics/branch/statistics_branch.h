// The statistics/ branch: carries out what arrives on the socket for statistics, and enters their
// files. Its parts are the Registry (names and numbers), AppliedRules (the file `rules`),
// SampleAdder, LineCommands and InterfaceCommands, ChangeJournal, StateSaver and StateLoader, and
// the files of all interfaces (root_files.h).
//
// Thread-safe. StatisticsBranch::mutex_ covers names and numbers, and is held while samples are
// handed to their interfaces, so that nothing can be removed under them: for one batch, never
// across a system call. Lock order: StatisticsBranch, then Interface, then Ledger or Tree.
#pragma once

#include "core/branch/branch.h"
#include "core/statistics/branch/applied_rules.h"
#include "core/statistics/branch/command_text.h"
#include "core/statistics/branch/counter_interface.h"
#include "core/statistics/branch/line_commands.h"
#include "core/statistics/branch/registry.h"
#include "core/statistics/branch/root_files.h"
#include "core/statistics/branch/rules.h"
#include "core/statistics/branch/sample_adder.h"
#include "core/statistics/branch/saved_state.h"
#include "core/tree/subject.h"

namespace tallyfs::statistics {

class StatisticsBranch final : public Branch {
 public:
  // The interface of the daemon's own numbers; feeders neither feed nor remove it.
  static constexpr std::string_view kOwnName = kOwnInterface;

  // Enters `statistics/` into the tree. Tree and ledger outlive it. owner is the daemon's uid,
  // which may do what root may.
  StatisticsBranch(Tree& tree, Ledger& ledger, uid_t owner, Timestamp now,
                   BranchDependencies dependencies = {});
  ~StatisticsBranch() override;

  // Adds samples by name; a name not known yet comes into being, on, with the default type. X of
  // statistics with decimals are changed into what these keep.
  // at: their place in the socket's stream, here and below.
  Taken add(NamedSamples& samples, uid_t sender, Timestamp now, const InputSpan& at = {})
      EXCLUDES(mutex_);
  // Adds packed samples by number. kStale: the number names nothing (any more); kNotPermitted: the
  // sender may not feed its interface.
  Result<Taken> add(wire::PackedSamples samples, uid_t sender, Timestamp now,
                    const InputSpan& at = {}) EXCLUDES(mutex_);

  // Adds samples of this uid's rings.
  TakenFromRing add(std::span<const NumberedRun> runs, uid_t sender, Timestamp now,
                    const RingSlice& from = {}) EXCLUDES(mutex_);

  Handled handles() const override {
    return {
        .lines = kLines<wire::CommandLine>,
        .metered_lines = kLines<wire::CommandLine>,
        .objects = saved_kinds(SavedKind::kInterface, SavedKind::kRule, SavedKind::kFedInterface,
                               SavedKind::kStatisticNumbers, SavedKind::kFedChanges)};
  }
  Result<Done> execute(const wire::Line& line, Call& call) override EXCLUDES(mutex_) {
    return execute(std::get<wire::CommandLine>(line), call.sender, call.now,
                   {call.progress, call.is_late ? *call.is_late : never_late}, call.at);
  }
  // A feeder has cells of the statistic of this number, under this id of its own. kStale: the
  // number names nothing (any more); kNotPermitted; kNoSpace.
  Result<void> bind_cells(std::uint64_t number, std::shared_ptr<const CellSource> source,
                          std::uint32_t id) EXCLUDES(mutex_);
  // The subject of the files which show this statistic, as long as it is there. nullptr: the number
  // names nothing (any more).
  Subject subject_of(std::uint64_t number) const EXCLUDES(mutex_);
  // The feeder has ended: what its cells of that statistic hold becomes the statistic's own.
  // Cells of other feeders are not read.
  // False: some are left, as it was late.
  bool absorb_cells(std::uint64_t number, const CellSource* source, Timestamp now,
                    const IsLate& is_late) EXCLUDES(mutex_);
  // Feeders send all samples from now on, also those of statistics to come.
  void end_cells(Timestamp now) EXCLUDES(mutex_);

  // Carries out a command line. kInvalid, kNotFound, kNotPermitted, kBusy, kNoSpace; token_at is an
  // offset into the line. A member of --write-group may what the daemon's uid may, but feed.
  // Statistics go one by one with their interface, the last one first. Without a step: whole.
  Result<Done> execute(const wire::CommandLine& command, const Sender& sender, Timestamp now)
      EXCLUDES(mutex_) {
    LineProgress progress;
    return execute(command, sender, now, {progress, never_late});
  }
  Result<Done> execute(const wire::CommandLine& typed, const Sender& sender, Timestamp now,
                       const LineStep& step, const InputSpan& at = {}) EXCLUDES(mutex_);

  // The process has ended: interfaces go that had lifetime=feeder and no other process left.
  bool process_ended(pid_t process, Timestamp now, const IsLate& is_late = never_late) override
      EXCLUDES(mutex_);

  // Rules of the file of --rules at `path`, instead of those that came from it before. They are for
  // statistics to come. The error log has the first faults, with the path.
  Rules::Reading take_rules(const std::string& path, std::string_view text, Timestamp now)
      EXCLUDES(mutex_);

  // Enters `metrics/`. Called once, before there are readers.
  void enter_metrics(const MetricsSettings& settings, Timestamp now);

  // The changes that commands have made, for the next server.
  ChangeJournal& changes() { return changes_; }

  // Carries out rmdir. It lets others have the lock between its steps. kBusy for the daemon's own,
  // kNotFound.
  Result<void> remove_interface(std::string_view name, Timestamp now) EXCLUDES(mutex_);

  // The rules that were written, and every interface but the daemon's own, with all that is in it.
  // Each interface is copied under its own lock, one at a time. For a restart are not saved: the
  // numbers that feeders hold, which belong to an epoch; node ids; and interfaces with
  // lifetime=feeder, since their feeders make them again.
  void save(ObjectSink& sink) const override { saver_.save(sink); }
  SavedAt save_at(std::string_view path, ObjectSink& sink, Timestamp now) const override {
    return saver_.save_at(path, sink, now);
  }
  // All of them, and the daemon's own, with their numbers and feeders; then the table of numbers.
  void save_for_successor(ObjectSink& sink, Timestamp now) override {
    saver_.save_for_successor(sink, now);
  }
  std::uint64_t stamp(Timestamp now) const override { return saver_.stamp(now); }
  Result<void> load(const SavedObject& object, const Loading& loading) override EXCLUDES(mutex_);
  Result<void> end_loading(const Loading& loading) override { return loader_.end_loading(loading); }

  // From now on the log, which outlives the branch, has what it needs for the case of a kill.
  // Called before there are feeders: before a replay, which removes statistics, and whenever the
  // place is another one. taken: what was taken in.
  void log_input(InputLog& log, const InputPosition& taken) EXCLUDES(mutex_);
  // What was taken in.
  InputPosition input() const EXCLUDES(mutex_);
  // After a kill and after end_loading(): input that the server before had taken in comes again, as
  // far as it is not in what was loaded. all: what is in all of that.
  void begin_replay(const std::vector<InputReplay::Removal>& removals, const InputPosition& all)
      EXCLUDES(mutex_);
  // Before that: the most that a statistic has which was loaded.
  InputPosition loaded_input() const EXCLUDES(mutex_);
  // The places within the span at which the input is to be divided.
  std::vector<std::uint64_t> replay_cuts(const InputSpan& span) const EXCLUDES(mutex_);
  void replay(std::span<const NumberedRun> runs, uid_t sender, Timestamp now, const InputSpan& at)
      EXCLUDES(mutex_);
  // After the last of it, and without a replay, too: histories go on from now.
  void end_replay(Boot boot, Timestamp now) EXCLUDES(mutex_);

  DaemonCounters& counters() { return own_; }
  // Samples in cells of feeders that may not feed them, which were found since the last call.
  std::uint64_t take_refused_in_cells() { return counts_.refused_in_cells.exchange(0); }
  // How many numbers feeders were told. A look without a lock.
  std::uint64_t numbers_given() const {
    return counts_.numbers_given.load(std::memory_order_relaxed);
  }
  uid_t owner() const { return ownership_.daemon(); }

 private:
  class InterfacesDirectory;

  // The target of a command, as the statistic is called or will be.
  Result<std::string> stored_target(const wire::CommandLine& command) const EXCLUDES(mutex_);
  Result<Done> carry_out(const wire::CommandLine& command, const Sender& sender, Timestamp now,
                         const LineStep& step, const InputSpan& at) EXCLUDES(mutex_);
  Result<Done> create_lasting(const wire::CommandLine& command, const Sender& sender, Timestamp now,
                              const InputSpan& at) EXCLUDES(mutex_);
  // Carries out a command of this place, once: not again in a replay if what is saved has its
  // effect.
  template <typename Change>
  Result<Done> change_at(const InputSpan& at, const wire::CommandLine& command, Change change)
      REQUIRES(mutex_);
  bool has_effect_of(const wire::CommandLine& command) const REQUIRES(mutex_);
  bool was_removed_behind(const wire::CommandLine& command) const REQUIRES(mutex_);

  Tree& tree_;
  const Ownership ownership_;
  const InterfaceRights rights_;
  const FeederWatch processes_;
  const std::function<bool(const Sender&)> is_writer_;
  ErrorLog* const errors_;  // nullptr: failures are not reported
  const DaemonFacts daemon_;
  const NodeId directory_;
  NodeId rules_file_ = 0;
  NodeId overview_file_ = 0;
  NodeId metrics_directory_ = 0;
  CounterInterface own_;
  Registry::Counts counts_;
  std::atomic<bool> has_changes_{false};

  mutable Mutex mutex_{LockRank::kStatistics};
  InputState input_ GUARDED_BY(mutex_);
  Registry registry_ GUARDED_BY(mutex_);
  AppliedRules rules_ GUARDED_BY(mutex_);
  SampleAdder adder_ GUARDED_BY(mutex_);
  PendingChanges pending_ GUARDED_BY(mutex_);
  LineCommands commands_ GUARDED_BY(mutex_);

  // These take the lock.
  InterfaceList interfaces_;
  StateSaver saver_;
  ChangeJournal changes_;
  StateLoader loader_;
};

}  // namespace tallyfs::statistics
