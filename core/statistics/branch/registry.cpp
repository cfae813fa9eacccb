#include "core/statistics/branch/registry.h"

#include <utility>

#include "core/base/labels.h"
#include "core/statistics/branch/command_text.h"
#include "core/statistics/branch/interface_files.h"

namespace tallyfs::statistics {
namespace {

constexpr Audience kForWriters{.permissions = 0600, .readers = true, .writers = true};
constexpr Audience kForReaders{.permissions = 0400, .readers = true};
// So many go between two looks at the time. Those of an interface that has no more go with it, and
// open handles still show them. Interfaces go together, as each pass over their directories costs
// about as much as removing a few of them.
constexpr std::size_t kStatisticsAtOnce = 64;
constexpr std::size_t kInterfacesAtOnce = 128;

}  // namespace

Registry::Registry(Dependencies dependencies)
    : tree_(dependencies.tree),
      ledger_(dependencies.ledger),
      directory_(dependencies.directory),
      epoch_(dependencies.epoch),
      shapes_(dependencies.shapes),
      counts_(dependencies.counts),
      input_(dependencies.input),
      statistics_(dependencies.switches) {}

StatisticEntry* Registry::find_typed(const InterfaceEntry& interface, std::string_view name) const {
  const std::string begin = interface.name + "/";
  if (StatisticEntry* const entry = find(begin + std::string(name))) return entry;
  const auto stored = stored_name(name);
  return stored ? find(begin + stored.value()) : nullptr;
}

InterfaceEntry* Registry::find_interface(std::string_view name) const {
  const auto found = interfaces_.find(name);
  return found == interfaces_.end() ? nullptr : found->second.get();
}

Result<InterfaceEntry*> Registry::create_interface(std::string_view name, uid_t creator,
                                                   Timestamp now) {
  if (!is_name(name)) {
    return Error{ErrorCode::kInvalid, "not an interface's name (1 to 255 printable bytes, no '=')",
                 0};
  }
  auto made = Interface::create(ledger_, creator, now);
  if (!made) return error_at(made.error(), 0);
  made.value()->raise_version(first_version_);
  return &enter(name, std::move(made.value()), now);
}

InterfaceEntry& Registry::enter(std::string_view name, std::shared_ptr<Interface> interface,
                                Timestamp now) {
  auto entry = std::make_unique<InterfaceEntry>(
      InterfaceEntry{.name = std::string(name), .interface = std::move(interface)});
  entry->interface->count_refused_in(counts_.refused_in_cells);
  entry->node = tree_.add_directory(directory_, name, std::make_shared<Directory>(), now);
  // The daemon's own numbers tell of the samples of all.
  const Subject subject = name == kOwnInterface ? nullptr : entry->interface.get();
  tree_.add_file(entry->node, "definition", kForWriters,
                 std::make_shared<DefinitionFile>(entry->name, entry->interface, subject), now);
  tree_.add_file(entry->node, "data", kForReaders,
                 std::make_shared<DataFile>(entry->interface, subject), now);
  tree_.add_file(entry->node, "data.json", kForReaders,
                 std::make_shared<DataJsonFile>(entry->name, epoch_, entry->interface, subject),
                 now);
  for (InterfaceFiles* const each : files_) each->enter(*entry, now);
  const InterfaceEntry* const key = entry.get();
  drop_list();
  return *interfaces_.emplace(key, std::move(entry)).first->second;
}

StatisticEntry& Registry::enter(InterfaceEntry& interface, Statistic* statistic) {
  auto made = make_entry(interface, statistic, statistics_.next_number());
  StatisticEntry& entry = *made;
  statistics_.add(std::move(made));
  paths_.insert(entry);
  return entry;
}

void Registry::add_files(InterfaceFiles& files, Timestamp now) {
  if (std::ranges::find(files_, &files) != files_.end()) return;
  files_.push_back(&files);
  for (const auto& [key, entry] : interfaces_) files.enter(*entry, now);
}

// Most statistics are fed by name. What feeders see of one is made for the first that asks for its
// number.
std::uint64_t Registry::publish(StatisticEntry& entry) {
  if (!std::exchange(entry.is_published, true)) {
    entry.owner->changes += 1;
    counts_.numbers_given.fetch_add(1, std::memory_order_relaxed);
    Switch* const on = statistics_.give_switch(entry.number);
    entry.owner->interface->publish_at(entry.statistic, published(entry.number, on));
  }
  return entry.number;
}

std::unique_ptr<StatisticEntry> Registry::make_entry(InterfaceEntry& interface,
                                                     Statistic* statistic, std::uint64_t number) {
  auto made = std::make_unique<StatisticEntry>(
      StatisticEntry{.statistic = statistic, .owner = &interface, .number = number});
  made->path = PaddedName::of(PathNaming::name(*made));
  return made;
}

Published Registry::published(std::uint64_t number, Switch* on) const {
  const std::uint32_t slot = statistics_.slot(number);
  return {.on = on,
          .shape = slot < shapes_.size() && !has_ended_cells_ ? &shapes_[slot] : nullptr,
          .number = number};
}

void Registry::forget(StatisticEntry& entry) {
  // A definition that is still open can be written, but must not flip the switch of its successor.
  entry.owner->interface->publish_at(entry.statistic, {});
  input_.note_removed(entry.statistic);
  paths_.erase(entry);
  statistics_.remove(entry.number);
}

void Registry::forget(std::span<InterfaceEntry* const> entries, Timestamp now) {
  std::vector<NodeId> nodes;
  for (InterfaceEntry* const entry : entries) {
    input_.note_removed(entry->name);
    for (const Statistic* const statistic : entry->interface->statistics()) {
      forget(*find(entry->name + "/" + statistic->name()));
    }
    nodes.push_back(entry->node);
    nodes.insert(nodes.end(), entry->metrics.begin(), entry->metrics.end());
    interfaces_.erase(entry);
  }
  drop_list();
  tree_.remove(nodes, now);
}

bool Registry::shrink(const InterfaceEntry& entry, Timestamp now, const IsLate& is_late) {
  Interface& interface = *entry.interface;
  if (interface.size() > kStatisticsAtOnce) input_.note_removed(entry.name);
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

bool Registry::remove(InterfaceEntry& entry, Timestamp now, const IsLate& is_late) {
  if (!shrink(entry, now, is_late)) return false;
  forget(entry, now);
  return true;
}

// Interfaces that are left have the process until the next call, so that nothing else removes them.
bool Registry::remove_feeder(pid_t process, Timestamp now, const IsLate& is_late) {
  for (;;) {
    const auto gone = drop_feeder(process);
    if (gone.empty()) return true;
    const auto left = std::ranges::find_if_not(
        gone, [&](InterfaceEntry* entry) { return shrink(*entry, now, is_late); });
    forget({gone.begin(), left}, now);
    if (left != gone.end() || is_late()) return false;
  }
}

std::vector<InterfaceEntry*> Registry::drop_feeder(pid_t process) {
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

void Registry::resume(InterfaceEntry& interface, Statistic* statistic, std::uint64_t number) {
  auto made = make_entry(interface, statistic, number);
  StatisticEntry& entry = *made;
  statistics_.put(number, std::move(made));
  paths_.insert(entry);
  entry.is_published = statistics_.had_switch(number);
  Switch* const on = entry.is_published ? statistics_.keep_switch(number) : nullptr;
  interface.interface->resume_at(statistic, published(number, on));
}

bool Registry::finish_restore(std::string_view numbers, bool is_after_kill) {
  ByteReader in(numbers);
  if (!is_after_kill) return statistics_.finish_restore(in);
  statistics_.finish_late_restore(in);
  return true;
}

}  // namespace tallyfs::statistics
