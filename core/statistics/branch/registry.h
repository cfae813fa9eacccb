// Which interfaces and statistics there are: by name, by the number that feeders use, and as files
// in the tree; and which uids may change and feed an interface.
//
// Confined to the lock of the StatisticsBranch, but for the atomic counters that it is given.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <atomic>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/keyed_hash.h"
#include "core/base/ledger.h"
#include "core/base/name_index.h"
#include "core/base/padded_name.h"
#include "core/base/result.h"
#include "core/base/text.h"
#include "core/branch/branch_dependencies.h"
#include "core/branch/command.h"
#include "core/branch/lifetime.h"
#include "core/branch/number_table.h"
#include "core/branch/ownership.h"
#include "core/statistics/branch/input_log.h"
#include "core/statistics/interface/interface.h"
#include "core/tree/tree.h"
#include "core/wire/named_samples.h"

namespace tallyfs::statistics {

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
  inline bool is_of(const NamedSamples::Name& name) const;
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
           is_same(path.substr(0, slash), interface) && is_same(path.substr(slash + 1), statistic);
  }
};

bool StatisticEntry::is_of(const NamedSamples::Name& name) const {
  return PaddedName::fits(name.path) ? path == name.padded : PathNaming::is_named(*this, name.path);
}

// An immutable value.
class InterfaceRights {
 public:
  explicit InterfaceRights(Ownership ownership) : ownership_(ownership) {}

  // kNotPermitted.
  Result<void> may_change(const InterfaceEntry& entry, uid_t sender) const {
    return ownership_.check(
        entry.interface->uid(), sender,
        {.thing = "interface", .change = "change what is in it, or a member of --write-group"});
  }
  // Called for each sample: for most interfaces, it reads one flag.
  bool is_fed_by(const InterfaceEntry& entry, uid_t sender) const {
    if (entry.interface->feed() == Feed::kAny) [[likely]]
      return true;
    return ownership_.may_change(entry.interface->uid(), sender);
  }
  // The refusal of a sender that is_fed_by() denies.
  Error not_fed_by_all(const InterfaceEntry& entry, uid_t sender) const {
    return ownership_
        .check(entry.interface->uid(), sender,
               {.thing = "interface", .change = "feed it (feed=owner)"})
        .error();
  }

 private:
  const Ownership ownership_;
};

// An interface as readers of all of them see it. It may be removed meanwhile.
struct Listed {
  NodeId node = 0;
  std::string name;
  std::shared_ptr<Interface> interface;  // shared with the tree
};
using List = std::shared_ptr<const std::vector<Listed>>;  // shared with the calls that read it

// A directory that has a file for each interface. It outlives the Registry's use.
class InterfaceFiles {
 public:
  virtual ~InterfaceFiles() = default;
  // With the branch's lock.
  virtual void enter(InterfaceEntry& entry, Timestamp now) = 0;
};

class Registry {
 public:
  // Counters that are read without the lock.
  struct Counts {
    std::atomic<std::uint64_t> refused_in_cells{0};
    std::atomic<std::uint64_t> numbers_given{0};  // to feeders
  };
  struct Dependencies {
    Tree& tree;
    Ledger& ledger;
    NodeId directory = 0;     // the one of the interfaces
    std::uint64_t epoch = 0;  // of the daemon
    SwitchRegion switches = {};
    std::span<Shape> shapes = {};
    Counts& counts;
    InputState& input;  // is told what is removed
  };
  explicit Registry(Dependencies dependencies);

  struct NameOf {
    std::string_view operator()(const InterfaceEntry& entry) const { return entry.name; }
  };
  using Interfaces =
      boost::unordered_flat_map<const InterfaceEntry*, std::unique_ptr<InterfaceEntry>,
                                NameHash<InterfaceEntry, NameOf>,
                                NameEqual<InterfaceEntry, NameOf>>;
  using Paths = NameIndex<StatisticEntry, PathNaming, PaddedHash>;

  const Interfaces& interfaces() const { return interfaces_; }
  InputState& input() { return input_; }
  const Paths& paths() const { return paths_; }
  // Nullptr: there is none.
  InterfaceEntry* find_interface(std::string_view name) const;
  StatisticEntry* find(std::string_view path) const { return paths_.find(path); }
  // Finds it by its name as it is stored, or with labels as they may be typed.
  StatisticEntry* find_typed(const InterfaceEntry& interface, std::string_view name) const;
  StatisticEntry* find(std::uint64_t number) const {
    const auto* const found = statistics_.find(number);
    return found ? found->get() : nullptr;
  }
  const Switch* find_switch(std::uint64_t number) const { return statistics_.find_switch(number); }

  // kInvalid: not a name; kNoSpace. The name must be free.
  Result<InterfaceEntry*> create_interface(std::string_view name, uid_t creator, Timestamp now);
  InterfaceEntry& enter(std::string_view name, std::shared_ptr<Interface> interface, Timestamp now);
  StatisticEntry& enter(InterfaceEntry& interface, Statistic* statistic);
  // kNoSpace. The interface ends with the last of its processes.
  Result<void> add_feeder(InterfaceEntry& entry, pid_t process) {
    return entry.feeders.add(ledger_, entry.interface->uid(), process);
  }
  // Enters all interfaces, and from now on each with its other files. A further call does nothing.
  void add_files(InterfaceFiles& files, Timestamp now);
  // Its number, for a feeder.
  std::uint64_t publish(StatisticEntry& entry);
  // From now on, statistics are published without cells.
  void end_cells() { has_ended_cells_ = true; }

  // Removes a statistic from the names; the interface still has it.
  void forget(StatisticEntry& entry);
  // The same of one that is removed alone.
  void remove_name(StatisticEntry& entry) {
    input_.note_removed(PathNaming::name(entry));
    forget(entry);
  }
  // Removes interfaces with all statistics in them. Few should be left: see remove().
  void forget(std::span<InterfaceEntry* const> entries, Timestamp now);
  void forget(InterfaceEntry& entry, Timestamp now) {
    InterfaceEntry* const one = &entry;
    forget({&one, 1}, now);
  }
  // Removes the interface. False: some of it is left, as it was late.
  bool remove(InterfaceEntry& entry, Timestamp now, const IsLate& is_late);
  // The process has ended: interfaces go that had no other. False: some are left, as it was late.
  bool remove_feeder(pid_t process, Timestamp now, const IsLate& is_late);

  // Enters a statistic of the server before under its number there.
  bool can_resume(std::uint64_t number) const { return statistics_.can_put(number); }
  void resume(InterfaceEntry& interface, Statistic* statistic, std::uint64_t number);
  void save_numbers(ByteWriter& out) const { statistics_.save(out); }
  // Call after all statistics of the server before have been entered. False: the table is damaged,
  // which is not judged after a kill.
  bool finish_restore(std::string_view numbers, bool is_after_kill);

  // The least version of an interface that is made. The keeper's memory may have changes of an
  // interface for some time after another one of its name has been written there, also those that
  // the server before has written. The next server must not apply them to that one, whose versions
  // are all higher.
  void raise_first_version(std::uint64_t version) {
    first_version_ = std::max(first_version_, version);
  }

  // The list of all interfaces since none was entered or removed; nullptr: it is to be made. To
  // make it takes as long as the rest of statistics.json.
  const List& kept_list() const { return list_; }
  std::uint64_t entered_or_removed() const { return entered_or_removed_; }
  // as_of: entered_or_removed() when the list was made.
  void keep_list(const List& list, std::uint64_t as_of) {
    if (as_of == entered_or_removed_) list_ = list;
  }

 private:
  std::unique_ptr<StatisticEntry> make_entry(InterfaceEntry& interface, Statistic* statistic,
                                             std::uint64_t number);
  Published published(std::uint64_t number, Switch* on) const;
  // Removes statistics but for the first few. False: too many are left, as it was late.
  bool shrink(const InterfaceEntry& entry, Timestamp now, const IsLate& is_late);
  // Some of those that had this process alone.
  std::vector<InterfaceEntry*> drop_feeder(pid_t process);
  void drop_list() {
    entered_or_removed_ += 1;
    list_ = nullptr;
  }

  Tree& tree_;
  Ledger& ledger_;
  const NodeId directory_;
  const std::uint64_t epoch_;
  const std::span<Shape> shapes_;
  Counts& counts_;
  InputState& input_;
  Interfaces interfaces_;
  Paths paths_;
  NumberTable<std::unique_ptr<StatisticEntry>> statistics_;
  std::vector<InterfaceFiles*> files_;
  bool has_ended_cells_ = false;
  std::uint64_t first_version_ = 0;
  std::uint64_t entered_or_removed_ = 0;  // how often an interface was
  List list_;
};

}  // namespace tallyfs::statistics
