// The state of statistics/ that outlives the server. StateSaver saves interfaces and rules as
// objects, for a restart and for the next server of the mount; ChangeJournal writes what commands
// have changed for the next server before they are answered; StateLoader restores all of it.
//
// These take the lock of the StatisticsBranch, which callers do not have. Each interface is copied
// under its own lock, one at a time.
#pragma once

#include <functional>
#include <utility>

#include "core/base/mutex.h"
#include "core/branch/branch.h"
#include "core/branch/saved_object.h"
#include "core/statistics/branch/applied_rules.h"
#include "core/statistics/branch/counter_interface.h"
#include "core/statistics/branch/registry.h"

namespace tallyfs::statistics {

// Formats of the objects' contents, which have versions of their own within.
inline constexpr std::uint16_t kInterfaceFormat = 1;
inline constexpr std::uint16_t kRuleFormat = 1;
inline constexpr std::uint16_t kFedFormat = transfer_format(SavedKind::kFedInterface);
inline constexpr std::uint16_t kNumbersFormat = 1;
// Formats 1 and 2, which no release has had, did not begin with the version, or had no input.
inline constexpr std::uint16_t kChangesFormat = 3;

// An interface with its feeders, to be written for the next server. It may be removed meanwhile.
struct FedInterface {
  NodeId node = 0;
  std::string name{};
  std::shared_ptr<Interface> interface {};  // shared with its entry and its files
  std::uint64_t changes = 0;                // of the entry
  std::vector<std::int32_t> feeders{};
};

class StateSaver {
 public:
  // All outlive it.
  StateSaver(Mutex& mutex, const Registry& registry, const AppliedRules& rules,
             const InputState& input)
      : mutex_(mutex), registry_(registry), rules_(rules), input_(input) {}

  // As StatisticsBranch has it.
  void save(ObjectSink& sink) const EXCLUDES(mutex_);
  Branch::SavedAt save_at(std::string_view path, ObjectSink& sink, Timestamp now) const
      EXCLUDES(mutex_);
  void save_for_successor(ObjectSink& sink, Timestamp now) const EXCLUDES(mutex_);
  std::uint64_t stamp(Timestamp now) const EXCLUDES(mutex_);

  // Shows how much of the input is taken in while an interface is saved.
  const AtInput& at_input() const { return at_input_; }
  // Without an interface: there is none of that name, or it is the daemon's own.
  FedInterface find_fed(std::string_view name) const EXCLUDES(mutex_);
  // Tells the sink what there is of that name when it returns: the interface, or that it is gone.
  // `found` is what there was before.
  void put_whole(std::string_view name, FedInterface found, ObjectSink& sink, Timestamp now) const
      EXCLUDES(mutex_);

 private:
  std::vector<Listed> list_lasting() const EXCLUDES(mutex_);
  std::vector<FedInterface> list_fed() const EXCLUDES(mutex_);
  bool put_rules(ObjectSink& sink) const EXCLUDES(mutex_);
  void put_numbers(ObjectSink& sink) const EXCLUDES(mutex_);

  Mutex& mutex_;
  const Registry& registry_ GUARDED_BY(mutex_);
  const AppliedRules& rules_ GUARDED_BY(mutex_);
  const InputState& input_ GUARDED_BY(mutex_);
  const AtInput at_input_ = [this](const auto& save) {
    const MutexLock lock(mutex_);
    save(input_.taken());
  };
};

// The changes that commands made to an interface since it was written: the statistics that lines
// name; all of them, by a line without a name; or the interface itself, as it was made, removed or
// got a feeder.
struct Changed {
  enum class Extent { kNamed, kStatistics, kInterface };
  std::string interface;
  std::vector<std::string> statistics;  // as lines name them
  Extent extent = Extent::kNamed;
};

// Confined to the lock of the StatisticsBranch, but for has_some.
class PendingChanges {
 public:
  // has_some: is read without the lock.
  explicit PendingChanges(std::atomic<bool>& has_some) : has_some_(has_some) {}

  // From now on they are kept. Until then, note() does nothing.
  void keep() { are_kept_ = true; }
  void note(std::string_view interface, std::string_view statistic);
  void note(std::string_view interface, Changed::Extent extent);
  std::vector<Changed> take() {
    has_some_.store(false, std::memory_order_relaxed);
    return std::exchange(changed_, {});
  }

 private:
  Changed& of(std::string_view interface);

  std::atomic<bool>& has_some_;
  bool are_kept_ = false;
  std::vector<Changed> changed_;
};

class ChangeJournal {
 public:
  // All outlive it.
  ChangeJournal(Mutex& mutex, Registry& registry, PendingChanges& pending,
                const std::atomic<bool>& has_some, const StateSaver& saver)
      : mutex_(mutex), registry_(registry), pending_(pending), has_some_(has_some), saver_(saver) {}

  struct Keeping {
    using Put = std::function<void(ObjectSink& sink)>;
    // Calls it at once. False: all had to be saved instead.
    std::function<bool(const Put& put)> write = {};
    // All is to be saved soon.
    std::function<void()> save_soon = {};
  };
  // From now on, what commands change is kept for the case of a kill. Called once, before there are
  // feeders.
  void keep(Keeping keeping) EXCLUDES(mutex_);
  // Writes what commands have changed since the last call: before they are answered. An interface
  // of more than kLineAtOnce statistics, all of which a line has changed, is saved soon instead, as
  // others would wait for it. False: all was saved, which is not the doing of these commands. One
  // thread at a time.
  bool write(Timestamp now) EXCLUDES(mutex_) {
    if (has_changes()) [[unlikely]]
      return write_all(now);
    return true;
  }
  bool has_changes() const { return has_some_.load(std::memory_order_relaxed); }
  // The server before has written changes with this number: those of this one have higher ones.
  void continue_after(std::uint64_t number) {
    written_ = std::max<std::uint64_t>(written_, number + 1);
  }

 private:
  bool write_all(Timestamp now) EXCLUDES(mutex_);
  bool write(Changed changed, Timestamp now) EXCLUDES(mutex_);
  void put(const Changed& changed, const FedInterface& fed, ObjectSink& sink, Timestamp now)
      EXCLUDES(mutex_);
  bool put_changes(const Changed& changed, const FedInterface& fed, ObjectSink& sink)
      EXCLUDES(mutex_);

  Mutex& mutex_;
  Registry& registry_ GUARDED_BY(mutex_);
  PendingChanges& pending_ GUARDED_BY(mutex_);
  const std::atomic<bool>& has_some_;
  const StateSaver& saver_;
  Keeping keeping_;  // nothing: nothing is kept
  std::atomic<std::uint64_t> written_{0};
};

// Called at the start, before there are feeders.
class StateLoader {
 public:
  // All outlive it.
  StateLoader(Mutex& mutex, Ledger& ledger, Registry& registry, ChangeJournal& journal,
              CounterInterface& counters)
      : mutex_(mutex),
        ledger_(ledger),
        registry_(registry),
        journal_(journal),
        counters_(counters) {}

  // As StatisticsBranch has it, but for rules.
  Result<void> load(const SavedObject& object, const Loading& loading) EXCLUDES(mutex_);
  Result<void> end_loading(const Loading& loading) EXCLUDES(mutex_);

 private:
  Result<void> load_interface(const SavedObject& object, const Loading& loading) EXCLUDES(mutex_);
  Result<void> load_fed(const SavedObject& object, const Loading& loading) EXCLUDES(mutex_);
  Result<void> enter_fed(FedInterface fed, const Loading& loading) EXCLUDES(mutex_);
  Result<void> load_numbers(const SavedObject& object, const Loading& loading) EXCLUDES(mutex_);
  Result<void> load_changes(const SavedObject& object) EXCLUDES(mutex_);
  Result<void> apply_changes(std::string_view name, Interface& interface) EXCLUDES(mutex_);

  Mutex& mutex_;
  Ledger& ledger_;
  Registry& registry_ GUARDED_BY(mutex_);
  ChangeJournal& journal_;
  CounterInterface& counters_;
  // All below until the end of loading.
  // Changes of interfaces to come, each in its order.
  boost::unordered_flat_map<std::string, std::vector<std::string>> changes_ GUARDED_BY(mutex_);
  // The table of the server before, and statistics that feeders did not know there.
  std::string numbers_ GUARDED_BY(mutex_);
  std::vector<std::pair<InterfaceEntry*, Statistic*>> without_number_ GUARDED_BY(mutex_);
};

}  // namespace tallyfs::statistics
