#include "core/statistics/branch/statistics_branch.h"

#include <algorithm>
#include <utility>

#include "core/base/labels.h"
#include "core/base/text.h"
#include "core/statistics/branch/interface_files.h"
#include "core/statistics/branch/runs.h"

namespace tallyfs::statistics {
namespace {

constexpr Audience kForWriters{.permissions = 0600, .readers = true, .writers = true};
constexpr Audience kForReaders{.permissions = 0400, .readers = true};
// How a statistic begins that a sample named: as a range, which keeps what its samples say. A
// program that defines a statistic knows what it counts, so the default of definitions is a value.
constexpr std::string_view kBornOfASample = "on=1 type=range";
// So many go between two looks at the time. Those of an interface that has no more go with it, and
// open handles still show them. Interfaces go together, as each pass over their directories costs
// about as much as removing a few of them.
constexpr std::size_t kStatisticsAtOnce = 64;
constexpr std::size_t kInterfacesAtOnce = 128;

}  // namespace

// What rmdir in statistics/ asks.
class StatisticsBranch::InterfacesDirectory final : public Directory {
 public:
  InterfacesDirectory(StatisticsBranch& statistics) : statistics_(statistics) {}
  Result<void> remove_directory(std::string_view name, Timestamp now) override {
    return statistics_.remove_interface(name, now);
  }

 private:
  StatisticsBranch& statistics_;
};

StatisticsBranch::StatisticsBranch(Tree& tree, Ledger& ledger, uid_t owner, Timestamp now,
                                   BranchDependencies dependencies)
    : tree_(tree),
      ledger_(ledger),
      ownership_(owner),
      processes_(dependencies.processes),
      shapes_(dependencies.shapes),
      is_writer_(std::move(dependencies.is_writer)),
      errors_(dependencies.errors),
      daemon_(std::move(dependencies.daemon)),
      statistics_(dependencies.switches) {
  directory_ = tree_.add_directory(Tree::kRoot, "statistics",
                                   std::make_shared<InterfacesDirectory>(*this), now,
                                   {.permissions = 0755, .readers = true, .writers = true});
  const MutexLock lock(mutex_);
  std::shared_ptr<Interface> own = Interface::create(ledger_, owner, now).value();
  own->set_feed(Feed::kOwner, now);
  own_ = std::make_unique<CounterInterface>(own, now);
  enter(kOwnName, std::move(own), now);
  enter_rules(now);
  enter_overview(now);
}

StatisticsBranch::~StatisticsBranch() {
  // What stands behind these names points here.
  tree_.remove(directory_, Timestamp{});
  tree_.remove(rules_file_, Timestamp{});
  tree_.remove(overview_file_, Timestamp{});
  tree_.remove(metrics_directory_, Timestamp{});
}

StatisticsBranch::StatisticEntry* StatisticsBranch::find(std::string_view path) const {
  return paths_.find(path);
}

StatisticsBranch::StatisticEntry* StatisticsBranch::find_typed(const InterfaceEntry& interface,
                                                               std::string_view name) const {
  const std::string begin = interface.name + "/";
  if (StatisticEntry* const entry = find(begin + std::string(name))) return entry;
  const auto stored = stored_name(name);
  return stored ? find(begin + stored.value()) : nullptr;
}

StatisticsBranch::InterfaceEntry* StatisticsBranch::find_interface(std::string_view name) const {
  const auto found = interfaces_.find(name);
  return found == interfaces_.end() ? nullptr : found->second.get();
}

// Step by step for all of them, so that the memory that one needs is on its way while others are at
// the step before.
std::vector<StatisticsBranch::Refused> StatisticsBranch::look_up(const NamedSamples& samples,
                                                                 uid_t creator, Timestamp now) {
  auto& entries = workspace_.entries;
  const auto names = samples.names();
  for (const auto& name : names) paths_.prefetch(name.hash);
  for (std::size_t i = 0; i < names.size(); ++i) {
    entries[i] = paths_.candidate(names[i].hash);
    if (entries[i]) entries[i]->prefetch();
  }
  std::vector<Refused> refused;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!entries[i] || !entries[i]->is_of(names[i])) [[unlikely]] {
      auto made = find_or_create(samples, i, creator, now);
      entries[i] = made ? made.value() : nullptr;
      if (!made) {
        refused.push_back({i, std::move(made).error()});
        continue;
      }
    }
    const StatisticEntry& entry = *entries[i];
    if (!is_fed_by(*entry.owner, creator)) [[unlikely]] {
      refused.push_back({i, not_fed_by_all(*entry.owner, creator)});
      entries[i] = nullptr;
      continue;
    }
    entry.statistic->prefetch();
  }
  return refused;
}

Taken StatisticsBranch::add(NamedSamples& samples, uid_t sender, Timestamp now) {
  Taken taken;
  const MutexLock lock(mutex_);
  const auto refused = look_up(samples, sender, now);
  workspace_.rejected.reset();
  if (!refused.empty() || has_decimals(samples)) [[unlikely]]
    scale(samples, refused, taken);
  Runs runs(workspace_, taken, now);
  // With hardly two samples each, groups cost more than they save; rejected samples are in none.
  if (2 * samples.names().size() > samples.size() || taken.rejects != 0) {
    add_in_order(samples, runs);
  } else {
    add_by_group(samples, runs);
  }
  runs.flush();
  return taken;
}

void StatisticsBranch::add_in_order(const NamedSamples& samples, Runs& runs) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (workspace_.rejected[i]) continue;
    const StatisticEntry& entry = *workspace_.entries[samples.name_of(i)];
    runs.push(*entry.owner, entry.statistic, samples.samples(i, 1));
  }
}

// Names that are the same come one after the other where a name was entered several times.
std::span<StatisticsBranch::Workspace::Group> StatisticsBranch::group(const NamedSamples& samples) {
  auto& groups = workspace_.groups;
  const auto names = samples.names();
  std::size_t found = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    StatisticEntry& entry = *workspace_.entries[i];
    if (entry.group == 0) {
      groups[found] = {.entry = &entry};
      entry.group = static_cast<std::uint32_t>(++found);
    }
    workspace_.group_of[i] = entry.group - 1;
    groups[entry.group - 1].size += names[i].samples;
  }
  std::size_t end = 0;
  for (Workspace::Group& each : std::span(groups).first(found)) {
    each.entry->group = 0;
    each.end = end;
    end += each.size;
  }
  return std::span(groups).first(found);
}

void StatisticsBranch::add_by_group(const NamedSamples& samples, Runs& runs) {
  const auto groups = group(samples);
  auto& sorted = workspace_.scratch;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    sorted[groups[workspace_.group_of[samples.name_of(i)]].end++] = samples.sample(i);
  }
  for (const Workspace::Group& each : groups) {
    runs.push(*each.entry->owner, each.entry->statistic,
              std::span(sorted).subspan(each.end - each.size, each.size));
  }
}

// A name before this one in its batch may have been the same.
Result<StatisticsBranch::StatisticEntry*> StatisticsBranch::find_or_create(
    const NamedSamples& samples, std::size_t name, uid_t creator, Timestamp now) {
  const NamedSamples::Name& wanted = samples.names()[name];
  if (StatisticEntry* const entry = paths_.find(wanted.path, wanted.hash)) return entry;
  const auto path = stored_path(wanted.path);
  if (!path) return path.error();
  if (StatisticEntry* const entry = find(path.value())) return entry;
  if (auto refused = refuse_decimals(samples, name)) return *refused;
  return create_statistic(path.value(), kBornOfASample, creator, now);
}

// What an earlier version stored with another spelling, or a program with none that labels have,
// has its name.
Result<std::string> StatisticsBranch::stored_target(const wire::CommandLine& command) const {
  const std::string typed(command.target.text);
  auto stored = stored_path(typed);
  if (stored && stored.value() == typed) return typed;
  if (!stored && command.door == wire::Door::kProgram) return typed;
  const auto [interface, statistic, has_statistic] = wire::split_path(typed);
  const MutexLock lock(mutex_);
  const InterfaceEntry* const entry = find_interface(interface);
  if (entry && entry->interface->find(statistic)) return typed;
  if (!stored) return error_at(stored.error(), command.target.at);
  return stored;
}

Result<Taken> StatisticsBranch::add(wire::PackedSamples samples, uid_t sender, Timestamp now) {
  Taken taken;
  const MutexLock lock(mutex_);
  const auto* const found = statistics_.find(samples.number());
  if (!found) return Error{ErrorCode::kStale, "samples for a number that names no statistic"};
  const StatisticEntry* const entry = found->get();
  if (!is_fed_by(*entry->owner, sender)) return not_fed_by_all(*entry->owner, sender);
  Runs runs(workspace_, taken, now);
  for (;;) {
    const auto some = samples.unpack(workspace_.scratch, now.monotonic);
    if (some.empty()) break;
    runs.push(*entry->owner, entry->statistic, some);
    runs.flush();  // before the scratch is used again
  }
  const Switch* const its = statistics_.find_switch(samples.number());
  const bool has_route =
      its && (its->on.load(std::memory_order_relaxed) & kRouteMask) != kRouteSocket;
  if (has_route) taken.beside_lanes = taken.samples;
  return taken;
}

// Those that are left have the process until then, so that nothing else removes them.
bool StatisticsBranch::process_ended(pid_t process, Timestamp now, const IsLate& is_late) {
  const MutexLock lock(mutex_);
  for (;;) {
    const auto gone = drop_feeder(process);
    if (gone.empty()) return true;
    const auto left = std::ranges::find_if_not(
        gone, [&](InterfaceEntry* entry) REQUIRES(mutex_) { return shrink(*entry, now, is_late); });
    forget({gone.begin(), left}, now);
    if (left != gone.end() || is_late()) return false;
  }
}

std::vector<StatisticsBranch::InterfaceEntry*> StatisticsBranch::drop_feeder(pid_t process) {
  std::vector<InterfaceEntry*> gone;
  for (const auto& [key, entry] : interfaces_) {
    if (gone.size() == kInterfacesAtOnce) break;
    if (entry->feeders.has_only(process)) {
      gone.push_back(entry.get());
    } else if (entry->feeders.remove(process)) {
      entry->changes += 1;
    }
  }
  return gone;
}

Result<void> StatisticsBranch::create_interface(std::string_view name, uid_t creator,
                                                Timestamp now) {
  if (!is_name(name)) {
    return Error{ErrorCode::kInvalid, "not an interface's name (1 to 255 printable bytes, no '=')",
                 0};
  }
  auto made = Interface::create(ledger_, creator, now);
  if (!made) return error_at(made.error(), 0);
  made.value()->raise_version(first_version_);
  enter(name, std::move(made.value()), now);
  return {};
}

StatisticsBranch::InterfaceEntry& StatisticsBranch::enter(std::string_view name,
                                                          std::shared_ptr<Interface> interface,
                                                          Timestamp now) {
  auto entry = std::make_unique<InterfaceEntry>(
      InterfaceEntry{.name = std::string(name), .interface = std::move(interface)});
  entry->interface->count_refused_in(refused_in_cells_);
  entry->node = tree_.add_directory(directory_, name, std::make_shared<Directory>(), now);
  // The daemon's own numbers tell of the samples of all.
  const Subject subject = name == kOwnName ? nullptr : entry->interface.get();
  tree_.add_file(entry->node, "definition", kForWriters,
                 std::make_shared<DefinitionFile>(entry->name, entry->interface, subject), now);
  tree_.add_file(entry->node, "data", kForReaders,
                 std::make_shared<DataFile>(entry->interface, subject), now);
  tree_.add_file(
      entry->node, "data.json", kForReaders,
      std::make_shared<DataJsonFile>(entry->name, daemon_.epoch, entry->interface, subject), now);
  enter_metrics(*entry, now);
  const InterfaceEntry* const key = entry.get();
  note_entered_or_removed();
  return *interfaces_.emplace(key, std::move(entry)).first->second;
}

StatisticsBranch::StatisticEntry& StatisticsBranch::enter(InterfaceEntry& interface,
                                                          Statistic* statistic) {
  auto made = make_entry(interface, statistic, statistics_.next_number());
  StatisticEntry& entry = *made;
  statistics_.add(std::move(made));
  paths_.insert(entry);
  return entry;
}

// Most statistics are fed by name. What feeders see of one is made for the first that asks for its
// number.
std::uint64_t StatisticsBranch::publish(StatisticEntry& entry) {
  if (!std::exchange(entry.is_published, true)) {
    entry.owner->changes += 1;
    numbers_given_.fetch_add(1, std::memory_order_relaxed);
    Switch* const on = statistics_.give_switch(entry.number);
    entry.owner->interface->publish_at(entry.statistic, published(entry.number, on));
  }
  return entry.number;
}

std::unique_ptr<StatisticsBranch::StatisticEntry> StatisticsBranch::make_entry(
    InterfaceEntry& interface, Statistic* statistic, std::uint64_t number) {
  auto made = std::make_unique<StatisticEntry>(
      StatisticEntry{.statistic = statistic, .owner = &interface, .number = number});
  made->path = PaddedName::of(PathNaming::name(*made));
  return made;
}

Published StatisticsBranch::published(std::uint64_t number, Switch* on) const {
  const std::uint32_t slot = statistics_.slot(number);
  return {.on = on,
          .shape = slot < shapes_.size() && !has_ended_cells_ ? &shapes_[slot] : nullptr,
          .number = number};
}

void StatisticsBranch::forget(StatisticEntry& entry) {
  // A definition that is still open can be written, but must not flip the switch of its successor.
  entry.owner->interface->publish_at(entry.statistic, {});
  paths_.erase(entry);
  statistics_.remove(entry.number);
}

void StatisticsBranch::forget(std::span<InterfaceEntry* const> entries, Timestamp now) {
  std::vector<NodeId> nodes;
  for (InterfaceEntry* const entry : entries) {
    for (const Statistic* const statistic : entry->interface->statistics()) {
      forget(*find(entry->name + "/" + statistic->name()));
    }
    nodes.push_back(entry->node);
    nodes.insert(nodes.end(), entry->metrics.begin(), entry->metrics.end());
    interfaces_.erase(entry);
  }
  note_entered_or_removed();
  tree_.remove(nodes, now);
}

bool StatisticsBranch::shrink(const InterfaceEntry& entry, Timestamp now, const IsLate& is_late) {
  Interface& interface = *entry.interface;
  while (interface.size() > kStatisticsAtOnce) {
    for (std::size_t i = 0; i < kStatisticsAtOnce && interface.size() != 0; ++i) {
      Statistic& last = *interface.last();
      forget(*find(entry.name + "/" + last.name()));
      interface.drop(last, now);
    }
    if (is_late()) return interface.size() <= kStatisticsAtOnce;
  }
  return true;
}

bool StatisticsBranch::remove(InterfaceEntry& entry, Timestamp now, const IsLate& is_late) {
  if (!shrink(entry, now, is_late)) return false;
  forget(entry, now);
  return true;
}

}  // namespace tallyfs::statistics
