// Longer than most: names, numbers, lines and messages share one lock.
// The statistics/ branch: every interface and statistic by its name, and every statistic by the
// number that feeders use. Carries out what arrives on the socket. The file `rules` is its own,
// too: they are applied to each statistic that comes into being (statistics_rules.cpp). So are
// statistics.json (statistics_json.cpp) and `metrics/` (statistics_metrics.cpp).
//
// Thread-safe. StatisticsBranch::mutex_ covers names and numbers, and is held while samples are
// handed to their interfaces, so that nothing can be removed under them: for one batch, never
// across a system call. Lock order: StatisticsBranch, then Interface, then Ledger or Tree.
#pragma once

#include <sys/types.h>

#include <array>
#include <bitset>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/base/keyed_hash.h"
#include "core/base/ledger.h"
#include "core/base/mutex.h"
#include "core/base/name_index.h"
#include "core/base/padded_name.h"
#include "core/base/result.h"
#include "core/base/text.h"
#include "core/branch/branch.h"
#include "core/branch/branch_dependencies.h"
#include "core/branch/command.h"
#include "core/branch/lifetime.h"
#include "core/branch/number_table.h"
#include "core/branch/ownership.h"
#include "core/statistics/branch/command_text.h"
#include "core/statistics/branch/counter_interface.h"
#include "core/statistics/branch/rules.h"
#include "core/statistics/definition/change.h"
#include "core/statistics/definition/feed.h"
#include "core/statistics/exposition/options.h"
#include "core/statistics/interface/interface.h"
#include "core/tree/error_log.h"
#include "core/tree/subject.h"
#include "core/tree/tree.h"
#include "core/wire/binary.h"
#include "core/wire/line.h"
#include "core/wire/named_samples.h"

namespace tallyfs::statistics {

// What became of samples. A rejected one counts nowhere but here.
struct Taken {
  // No more reasons are made than the error log shows of a batch.
  static constexpr std::size_t kReasonsMax = ErrorLog::kSocketEntries;

  struct Rejected {
    std::size_t index = 0;  // of the sample in its batch
    Error error;
  };

  std::uint64_t samples = 0;
  std::uint64_t rounded = 0;       // of them, those with more places than the statistic's decimals
  std::uint64_t beside_lanes = 0;  // of them, those that a feeder could add to a cell or a ring
  // Interfaces in which a counter reached the end of its type; once for each statistic until it is
  // reset.
  std::vector<std::string> saturated;
  std::uint64_t rejects = 0;
  std::vector<Rejected> rejected;  // of them, the first kReasonsMax
};

// Samples of the statistic of this number, which are those of one feeder's thread.
struct NumberedRun {
  std::uint64_t number = 0;
  std::span<const Sample> samples;
};

struct MetricsSettings {
  MetricsOptions options{};
  Audience audience{.permissions = 0400, .readers = true};  // of the files
};

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
  Taken add(NamedSamples& samples, uid_t sender, Timestamp now) EXCLUDES(mutex_);
  // Adds packed samples by number. kStale: the number names nothing (any more); kNotPermitted: the
  // sender may not feed its interface.
  Result<Taken> add(wire::PackedSamples samples, uid_t sender, Timestamp now) EXCLUDES(mutex_);

  // Adds what rings of this uid held. Samples are lost whose number names nothing (any more), or
  // whose interface the uid may not feed.
  struct TakenFromRing {
    std::uint64_t samples = 0;
    std::uint64_t lost = 0;
    std::vector<std::string> saturated;  // as Taken's
  };
  TakenFromRing add(std::span<const NumberedRun> runs, uid_t sender, Timestamp now)
      EXCLUDES(mutex_);

  Handled handles() const override {
    return {.lines = kLines<wire::CommandLine>,
            .metered_lines = kLines<wire::CommandLine>,
            .objects = saved_kinds(SavedKind::kInterface, SavedKind::kRule,
                                   SavedKind::kFedInterface, SavedKind::kStatisticNumbers,
                                   SavedKind::kFedChanges)};
  }
  Result<Done> execute(const wire::Line& line, Call& call) override EXCLUDES(mutex_) {
    return execute(std::get<wire::CommandLine>(line), call.sender, call.now,
                   {call.progress, call.is_late ? *call.is_late : never_late});
  }
  // A feeder has cells of the statistic of this number, under this id of its own. kStale: the
  // number names nothing (any more); kNotPermitted; kNoSpace.
  Result<void> bind_cells(std::uint64_t number, std::shared_ptr<const CellSource> source,
                          std::uint32_t id) EXCLUDES(mutex_);
  // That of the files which show this statistic, as long as it is there. nullptr: the number names
  // nothing (any more).
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
                       const LineStep& step) EXCLUDES(mutex_);

  // The process has ended: interfaces go that had lifetime=feeder and no other process left.
  bool process_ended(pid_t process, Timestamp now, const IsLate& is_late = never_late) override
      EXCLUDES(mutex_);

  // Rules of the file of --rules at `path`, instead of those that came from it before. They are for
  // statistics to come. The error log has the first faults, with the path.
  Rules::Reading take_rules(const std::string& path, std::string_view text, Timestamp now)
      EXCLUDES(mutex_);

  // Enters `metrics/`. Called once, before there are readers.
  void enter_metrics(const MetricsSettings& settings, Timestamp now);

  // How what commands have changed is kept for the case of a kill.
  struct Keeping {
    using Put = std::function<void(ObjectSink& sink)>;
    // Calls it at once. False: all had to be saved instead.
    std::function<bool(const Put& put)> write = {};
    // All is to be saved soon.
    std::function<void()> save_soon = {};
  };
  // From now on, what commands have changed is noted. Called once, before there are feeders.
  void keep_changes(Keeping keeping) { keeping_ = std::move(keeping); }
  // Writes what commands have changed since the last call: before they are answered. An interface
  // of more than kLineAtOnce statistics, all of which a line has changed, is saved soon instead, as
  // others would wait for it. False: all was saved, which is not the doing of these commands. One
  // thread at a time.
  bool write_changes(Timestamp now) EXCLUDES(mutex_) {
    if (has_changed_.load(std::memory_order_relaxed)) [[unlikely]]
      return write_changed(now);
    return true;
  }
  // Whether there are such changes.
  bool has_changes() const { return has_changed_.load(std::memory_order_relaxed); }

  // What rmdir does. It lets others have the lock between its steps. kBusy for the daemon's own,
  // kNotFound.
  Result<void> remove_interface(std::string_view name, Timestamp now) EXCLUDES(mutex_);

  // The rules that were written, and every interface but the daemon's own, with all that is in it.
  // Each interface is copied under its own lock, one at a time. For a restart are not saved: the
  // numbers that feeders hold, which belong to an epoch; node ids; and interfaces with
  // lifetime=feeder, since their feeders make them again.
  void save(ObjectSink& sink) const override EXCLUDES(mutex_);
  SavedAt save_at(std::string_view path, ObjectSink& sink, Timestamp now) const override
      EXCLUDES(mutex_);
  // All of them, and the daemon's own, with their numbers and feeders; then the table of numbers.
  void hand_on(ObjectSink& sink, Timestamp now) override EXCLUDES(mutex_);
  std::uint64_t stamp(Timestamp now) const override EXCLUDES(mutex_);
  Result<void> load(const SavedObject& object, const Loading& loading) override EXCLUDES(mutex_);
  Result<void> end_loading(const Loading& loading) override EXCLUDES(mutex_);

  DaemonCounters& counters() { return *own_; }
  // Samples in cells of feeders that may not feed them, which were found since the last call.
  std::uint64_t take_refused_in_cells() { return refused_in_cells_.exchange(0); }
  // How many numbers feeders were told. A look without a lock.
  std::uint64_t numbers_given() const { return numbers_given_.load(std::memory_order_relaxed); }
  uid_t owner() const { return ownership_.daemon(); }

 private:
  class InterfacesDirectory;
  class MetricsDirectory;
  class MetricsFile;
  class OverviewFile;
  struct Saved;
  static bool put(const Saved& saved, ObjectSink& sink);
  class RulesFile;
  class Runs;

  struct StatisticEntry;
  struct InterfaceEntry {
    std::string name;
    // Shared with its files in the tree; freed when both the tree and the last open have let it go.
    std::shared_ptr<Interface> interface;
    NodeId node = 0;
    std::vector<NodeId> metrics{};  // its files in metrics/FORMAT/, 0 of formats not asked for
    LifetimeFeeders feeders;        // empty: the interface stays
    std::uint64_t changes = 0;      // of feeders, of numbers that they know, of cells taken out
  };
  struct StatisticEntry {
    PaddedName path{};
    Statistic* statistic = nullptr;
    InterfaceEntry* owner = nullptr;
    std::uint64_t number = 0;
    std::uint32_t group = 0;    // in a batch that is being added: the place of its group, from 1 on
    bool is_published = false;  // a feeder was told the number, and sees the switch

    void prefetch() const {
      __builtin_prefetch(this);
      __builtin_prefetch(&group);
    }
    bool is_of(const NamedSamples::Name& name) const {
      return PaddedName::fits(name.path) ? path == name.padded
                                         : PathNaming::is_named(*this, name.path);
    }
  };
  // Calls it INTERFACE/STATISTIC.
  struct PathNaming {
    static std::string name(const StatisticEntry& entry) {
      return entry.owner->name + "/" + entry.statistic->name();
    }
    static bool is_named(const StatisticEntry& entry, std::string_view path) {
      const std::string& interface = entry.owner->name;
      const std::string& statistic = entry.statistic->name();
      const std::size_t slash = interface.size();
      return path.size() == slash + 1 + statistic.size() && path[slash] == '/' &&
             is_same(path.substr(0, slash), interface) &&
             is_same(path.substr(slash + 1), statistic);
    }
  };
  struct NameOf {
    std::string_view operator()(const InterfaceEntry& entry) const { return entry.name; }
  };

  // What adding works with; here since making it anew for each datagram costs more than the adding.
  struct Workspace {
    // The samples of one statistic.
    struct Group {
      StatisticEntry* entry = nullptr;
      std::size_t size = 0;
      std::size_t end = 0;  // of those that are in the scratch
    };
    std::array<StatisticEntry*, NamedSamples::kCapacity> entries;  // of the names
    std::array<Group, NamedSamples::kCapacity> groups;
    std::array<std::uint32_t, NamedSamples::kCapacity> group_of;  // a name
    std::array<Run, NamedSamples::kCapacity> runs;
    std::array<Sample, NamedSamples::kCapacity> scratch;
    std::bitset<NamedSamples::kCapacity> rejected;  // samples
  };

  StatisticEntry* find(std::string_view path) const REQUIRES(mutex_);
  // By its name as it is stored, or with labels as they may be typed.
  StatisticEntry* find_typed(const InterfaceEntry& interface, std::string_view name) const
      REQUIRES(mutex_);
  struct Refused {
    std::size_t name = 0;
    Error error;
  };
  // Of each of the names, into the workspace; makes those that are missing. A name that is refused
  // has no entry.
  std::vector<Refused> look_up(const NamedSamples& samples, uid_t creator, Timestamp now)
      REQUIRES(mutex_);
  Result<StatisticEntry*> find_or_create(const NamedSamples& samples, std::size_t name,
                                         uid_t creator, Timestamp now) REQUIRES(mutex_);
  // Whether some X is not yet what its statistic keeps.
  bool has_decimals(const NamedSamples& samples) const REQUIRES(mutex_);
  // Makes X what its statistic keeps. Rejects samples that have none, or whose X cannot be kept.
  void scale(NamedSamples& samples, std::span<const Refused> refused, Taken& taken)
      REQUIRES(mutex_);
  // Of a name that is not known: all of its samples are decimals, and no rule gives it places.
  std::optional<Error> refuse_decimals(const NamedSamples& samples, std::size_t name)
      REQUIRES(mutex_);
  // Those that are not rejected.
  void add_in_order(const NamedSamples& samples, Runs& runs) REQUIRES(mutex_);
  // Of the names, which all have an entry in the workspace, with their samples counted.
  std::span<Workspace::Group> group(const NamedSamples& samples) REQUIRES(mutex_);
  void add_by_group(const NamedSamples& samples, Runs& runs) REQUIRES(mutex_);
  InterfaceEntry* find_interface(std::string_view name) const REQUIRES(mutex_);

  std::vector<Saved> listed() const EXCLUDES(mutex_);
  Result<void> load_interface(const SavedObject& object, const Loading& loading) EXCLUDES(mutex_);
  bool put_rules(ObjectSink& sink) const EXCLUDES(mutex_);
  // An interface on its way to the next server. It may be removed meanwhile.
  struct Handed {
    NodeId node = 0;
    std::string name{};
    std::shared_ptr<Interface> interface {};  // shared with its entry and its files
    std::uint64_t changes = 0;                // of the entry
    std::vector<std::int32_t> feeders{};
  };
  Handed handed(const InterfaceEntry& entry) const REQUIRES(mutex_);
  std::vector<Handed> list_handed() const EXCLUDES(mutex_);
  static std::string bytes_of(const Handed& handed, CellBudget& budget);
  static bool put_fed(const Handed& handed, ObjectSink& sink);
  // What commands have changed of an interface since it was written: the statistics that lines
  // name; all of them, by a line without a name; or the interface itself, as it was made, removed
  // or got a feeder.
  enum class Extent { kNamed, kStatistics, kInterface };
  struct Changed {
    std::string interface;
    std::vector<std::string> statistics;  // as lines name them
    Extent extent = Extent::kNamed;
  };
  void note_changed(std::string_view interface, std::string_view statistic) REQUIRES(mutex_);
  void note_changed(std::string_view interface, Extent extent) REQUIRES(mutex_);
  Changed& noted(std::string_view interface) REQUIRES(mutex_);
  bool write_changed(Timestamp now) EXCLUDES(mutex_);
  bool write(Changed changed, Timestamp now) EXCLUDES(mutex_);
  void put(const Changed& changed, const Handed& handed, ObjectSink& sink, Timestamp now)
      EXCLUDES(mutex_);
  bool put_changes(const Changed& changed, const Handed& handed, ObjectSink& sink)
      EXCLUDES(mutex_);
  // Tells the sink what there is of that name when it returns: the interface, or that it is gone.
  // `found` is what there was before.
  void put_whole(std::string_view name, Handed found, ObjectSink& sink, Timestamp now) const
      EXCLUDES(mutex_);
  void raise_first_version(std::uint64_t version) REQUIRES(mutex_);
  Result<void> load_changes(const SavedObject& object) EXCLUDES(mutex_);
  Result<void> take_changes(std::string_view name, Interface& interface) EXCLUDES(mutex_);
  Handed find_handed(std::string_view interface) const EXCLUDES(mutex_);
  void put_numbers(ObjectSink& sink) const EXCLUDES(mutex_);
  Result<void> load_fed(const SavedObject& object, const Loading& loading) EXCLUDES(mutex_);
  Result<void> enter_fed(Handed fed, const Loading& loading) EXCLUDES(mutex_);
  Result<void> load_numbers(const SavedObject& object, const Loading& loading) EXCLUDES(mutex_);

  // What a line asks of an interface, as far as it says so.
  struct AskedInterface {
    Lifetime lifetime = Lifetime::kForGood;
    std::optional<Requested<Feed>> feed{};
  };
  // The target of a command, as the statistic is called or will be.
  Result<std::string> stored_target(const wire::CommandLine& command) const EXCLUDES(mutex_);
  Result<Done> carry_out(const wire::CommandLine& command, const Sender& sender, Timestamp now,
                         const LineStep& step) EXCLUDES(mutex_);
  static Result<AskedInterface> parse_interface(std::string_view words);
  static Result<AskedInterface> asked_interface(const wire::CommandLine& command);
  Result<Done> create_lasting(const wire::CommandLine& command, const Sender& sender, Timestamp now)
      EXCLUDES(mutex_);
  Result<Done> create(const wire::CommandLine& command, const AskedInterface& asked,
                      const Sender& sender, Timestamp now) REQUIRES(mutex_);
  Result<Done> leave(const wire::CommandLine& command, const InterfaceEntry& owner, Done done,
                     const Sender& sender, Timestamp now) REQUIRES(mutex_);
  // kInvalid: the samples of the line and those that the statistic has do not add up.
  Result<void> agree_on_units(const wire::CommandLine& command, const InterfaceEntry& owner,
                              const Sender& sender) const REQUIRES(mutex_);
  bool is_ruled(const wire::CommandLine& command) REQUIRES(mutex_);
  Done with_warning(Done done, const wire::CommandLine& command, const Sender& sender,
                    std::optional<Error> fault, Timestamp now) const;
  Result<Done> create_interface(const wire::CommandLine& command, const AskedInterface& asked,
                                const Sender& sender, Timestamp now) REQUIRES(mutex_);
  Done leave(const wire::CommandLine& command, const InterfaceEntry& entry,
             const AskedInterface& asked, const Sender& sender, Timestamp now) REQUIRES(mutex_);
  // `define INTERFACE feed=...`: nothing of its statistics.
  static std::optional<Token> feed_alone(const wire::CommandLine& command);
  Result<Done> define_feed(const wire::CommandLine& command, const Token& word, Timestamp now,
                           const IsLate& is_late) REQUIRES(mutex_);
  Result<Done> define(const wire::CommandLine& command, const Sender& sender, Timestamp now,
                      const LineStep& step) REQUIRES(mutex_);
  static std::optional<Error> remark_on_default(const InterfaceEntry& entry,
                                                std::string_view line);
  Result<bool> define_default(const InterfaceEntry& entry, std::string_view text, Timestamp now,
                              Strictness strictness) REQUIRES(mutex_);
  Result<Done> remove(const wire::CommandLine& command, uid_t sender, Timestamp now,
                      const IsLate& is_late) REQUIRES(mutex_);
  Result<Done> create_view(const wire::CommandLine& command, const Sender& sender, Timestamp now)
      REQUIRES(mutex_);
  Result<Done> attach(const wire::CommandLine& command, uid_t sender) REQUIRES(mutex_);

  // At token_at of an error stands where in `path` or in the text behind it the fault lies.
  Result<StatisticEntry*> create_statistic(std::string_view path, std::string_view text,
                                           uid_t creator, Timestamp now,
                                           Strictness strictness = Strictness::kTolerant)
      REQUIRES(mutex_);
  // Its files in the directories of formats that were looked into.
  void enter_metrics(InterfaceEntry& entry, Timestamp now) REQUIRES(mutex_);
  void enter_rules(Timestamp now) REQUIRES(mutex_);
  void enter_overview(Timestamp now);
  struct Listed {
    NodeId node = 0;
    std::string name;
    std::shared_ptr<Interface> interface;  // shared with the tree; may be removed meanwhile
  };
  using List = std::shared_ptr<const std::vector<Listed>>;  // shared with the calls that read it
  // In the order of their creation.
  List list() const EXCLUDES(mutex_);
  // Rounds of opens that look at the cells of all interfaces. Of opens beside each other, the last
  // one to end decides.
  CellRounds begin_cell_open() const EXCLUDES(mutex_);
  void end_cell_open(CellRounds& rounds) const EXCLUDES(mutex_);
  void apply_rules(const StatisticEntry& entry, Timestamp now, Interface::By by) REQUIRES(mutex_);
  // Lines of the rules that match, in their order.
  std::vector<std::string> lines_of_rules(const std::string& path, std::string_view statistic)
      REQUIRES(mutex_);
  // The first statistic that is there and that the rule in a line would change; nothing: none.
  std::optional<std::string> first_unlike(std::string_view line) const REQUIRES(mutex_);
  void apply_rules(Timestamp now) REQUIRES(mutex_);
  Result<void> create_interface(std::string_view name, uid_t creator, Timestamp now)
      REQUIRES(mutex_);
  InterfaceEntry& enter(std::string_view name, std::shared_ptr<Interface> interface, Timestamp now)
      REQUIRES(mutex_);
  StatisticEntry& enter(InterfaceEntry& interface, Statistic* statistic) REQUIRES(mutex_);
  // Under the number that it had in the server before.
  void enter_again(InterfaceEntry& interface, Statistic* statistic, std::uint64_t number)
      REQUIRES(mutex_);
  std::unique_ptr<StatisticEntry> make_entry(InterfaceEntry& interface, Statistic* statistic,
                                             std::uint64_t number) REQUIRES(mutex_);
  // Its number, for a feeder.
  std::uint64_t publish(StatisticEntry& entry) REQUIRES(mutex_);
  // What a feeder is told of it.
  Done named(StatisticEntry& entry, wire::Made made) REQUIRES(mutex_);
  Published published(std::uint64_t number, Switch* on) const REQUIRES(mutex_);
  void note_entered_or_removed() REQUIRES(mutex_) {
    entered_or_removed_ += 1;
    listed_ = nullptr;
  }
  void forget(StatisticEntry& entry) REQUIRES(mutex_);
  // With what is in it, which is little after shrink().
  void forget(InterfaceEntry& entry, Timestamp now) REQUIRES(mutex_) {
    InterfaceEntry* const one = &entry;
    forget({&one, 1}, now);
  }
  void forget(std::span<InterfaceEntry* const> entries, Timestamp now) REQUIRES(mutex_);
  // Removes statistics but for the first few. False: too many are left, as it was late.
  bool shrink(const InterfaceEntry& entry, Timestamp now, const IsLate& is_late) REQUIRES(mutex_);
  // Removes the interface. False: some of it is left, as it was late.
  bool remove(InterfaceEntry& entry, Timestamp now, const IsLate& is_late) REQUIRES(mutex_);
  // Some of those that had this process alone.
  std::vector<InterfaceEntry*> drop_feeder(pid_t process) REQUIRES(mutex_);
  Result<void> may_change(const InterfaceEntry& entry, uid_t sender) const REQUIRES(mutex_);
  // On the way of each sample: of most interfaces, one look at a flag.
  bool is_fed_by(const InterfaceEntry& entry, uid_t sender) const REQUIRES(mutex_) {
    if (entry.interface->feed() == Feed::kAny) [[likely]]
      return true;
    return ownership_.may_change(entry.interface->uid(), sender);
  }
  Error not_fed_by_all(const InterfaceEntry& entry, uid_t sender) const REQUIRES(mutex_);

  Tree& tree_;
  Ledger& ledger_;
  const Ownership ownership_;
  const FeederWatch processes_;
  const std::span<Shape> shapes_;
  const std::function<bool(const Sender&)> is_writer_;
  Keeping keeping_;  // nothing: nothing is kept
  std::atomic<bool> has_changed_{false};
  std::atomic<std::uint64_t> changes_written_{0};
  ErrorLog* const errors_;  // nullptr: what rules cannot do is not told
  const DaemonFacts daemon_;
  NodeId directory_ = 0;
  NodeId rules_file_ = 0;
  NodeId overview_file_ = 0;
  NodeId metrics_directory_ = 0;
  std::unique_ptr<CounterInterface> own_;
  std::atomic<std::uint64_t> refused_in_cells_{0};
  std::atomic<std::uint64_t> numbers_given_{0};

  mutable Mutex mutex_{LockRank::kStatistics};
  // Those that were looked into. The tree owns them, and keeps them.
  std::vector<MetricsDirectory*> metrics_directories_ GUARDED_BY(mutex_);
  mutable CellRounds cell_rounds_ GUARDED_BY(mutex_);
  bool has_ended_cells_ GUARDED_BY(mutex_) = false;
  Workspace workspace_ GUARDED_BY(mutex_);
  boost::unordered_flat_map<const InterfaceEntry*, std::unique_ptr<InterfaceEntry>,
                            NameHash<InterfaceEntry, NameOf>, NameEqual<InterfaceEntry, NameOf>>
      interfaces_ GUARDED_BY(mutex_);
  // How often one was entered or removed. The list is kept until the next time: to make it takes as
  // long as the rest of statistics.json.
  std::uint64_t entered_or_removed_ GUARDED_BY(mutex_) = 0;
  mutable List listed_ GUARDED_BY(mutex_);
  NumberTable<std::unique_ptr<StatisticEntry>> statistics_ GUARDED_BY(mutex_);
  NameIndex<StatisticEntry, PathNaming, PaddedHash> paths_ GUARDED_BY(mutex_);
  std::vector<Changed> changed_ GUARDED_BY(mutex_);
  std::uint64_t first_version_ GUARDED_BY(mutex_) = 0;  // of an interface that is made
  // Until the end of loading: changes of interfaces to come, each in its order.
  boost::unordered_flat_map<std::string, std::vector<std::string>> changes_before_
      GUARDED_BY(mutex_);
  // Until the end of loading: the table of the server before, and statistics that feeders did not
  // know there.
  std::string numbers_before_ GUARDED_BY(mutex_);
  std::vector<std::pair<InterfaceEntry*, Statistic*>> without_number_ GUARDED_BY(mutex_);
  Rules rules_ GUARDED_BY(mutex_);
  Timestamp rules_changed_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs::statistics
