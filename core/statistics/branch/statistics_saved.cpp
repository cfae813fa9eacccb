// What of statistics/ outlives the daemon: interfaces and rules as objects of a state file.
#include <algorithm>
#include <vector>

#include "core/base/text.h"
#include "core/statistics/branch/statistics_branch.h"

namespace tallyfs::statistics {
namespace {

// Of the objects' contents, which have versions of their own within.
constexpr std::uint16_t kInterfaceFormat = 1;
constexpr std::uint16_t kRuleFormat = 1;
constexpr std::string_view kRulesName = "rules";  // of their file, in the root

}  // namespace

// An interface on its way into a file. It may be removed meanwhile.
struct StatisticsBranch::Saved {
  NodeId node = 0;
  std::string name;
  std::shared_ptr<Interface> interface;  // shared with its entry and its files
};

// In the order in which they came: nodes are numbered so, and so is the listing.
std::vector<StatisticsBranch::Saved> StatisticsBranch::listed() const {
  std::vector<Saved> all;
  {
    const MutexLock lock(mutex_);
    all.reserve(interfaces_.size());
    for (const auto& [key, entry] : interfaces_) {
      if (entry->name == kOwnName || !entry->feeders.empty()) continue;
      all.push_back({entry->node, entry->name, entry->interface});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  return all;
}

bool StatisticsBranch::put_rules(ObjectSink& sink) const {
  std::vector<std::string> rules;
  {
    const MutexLock lock(mutex_);
    rules = rules_.written();
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    if (!sink.put(saved_object(SavedKind::kRule, kRuleFormat, number, rules[i]))) return false;
  }
  for (std::size_t i = rules.size(); i < Rules::kRulesBound; ++i) {
    sink.gone(SavedKind::kRule, std::to_string(i + 1));
  }
  return true;
}

void StatisticsBranch::save(ObjectSink& sink) const {
  if (!put_rules(sink)) return;
  if (sink.reader() == ObjectSink::Reader::kSuccessor) {
    for (const Handed& each : list_handed()) {
      if (!put_fed(each, sink)) return;
    }
    return put_numbers(sink);
  }
  for (const Saved& each : listed()) {
    if (!put(each, sink)) return;
  }
}

// False: the sink takes no more.
bool StatisticsBranch::put(const Saved& saved, ObjectSink& sink) {
  const ObjectVersion version{saved.node, saved.interface->changes()};
  if (!sink.wants(SavedKind::kInterface, saved.name, version)) return true;
  CellBudget budget;  // for each, as what is saved should be as of now
  std::string bytes;
  ByteWriter out(bytes);
  saved.interface->save(out, budget);
  return sink.put(saved_object(SavedKind::kInterface, kInterfaceFormat, saved.name, bytes));
}

// Rules are all saved when one is written: each has its number for a label, and those behind the
// last one are gone.
StatisticsBranch::SavedAt StatisticsBranch::save_at(std::string_view path, ObjectSink& sink,
                                                    Timestamp now) const {
  constexpr std::string_view kBegin = "statistics/";
  if (path == kRulesName) {
    (void)put_rules(sink);
    return SavedAt::kDone;
  }
  if (!path.starts_with(kBegin)) return SavedAt::kElsewhere;
  const std::string_view behind = path.substr(kBegin.size());
  const std::string_view name = behind.substr(0, behind.find('/'));
  put_whole(name, find_handed(name), sink, now);
  return SavedAt::kDone;
}

std::uint64_t StatisticsBranch::stamp(Timestamp now) const {
  std::uint64_t stamp = 0;
  for (const Handed& each : list_handed()) {
    stamp += spread(spread(each.node) + each.interface->version(now) + each.changes);
  }
  const MutexLock lock(mutex_);
  return stamp + spread(static_cast<std::uint64_t>(rules_changed_.monotonic.count()));
}

Result<void> StatisticsBranch::load(const SavedObject& object, const Loading& loading) {
  if (is_of(object, SavedKind::kInterface)) return load_interface(object, loading);
  if (is_of(object, SavedKind::kFedInterface)) return load_fed(object, loading);
  if (is_of(object, SavedKind::kStatisticNumbers)) return load_numbers(object, loading);
  if (is_of(object, SavedKind::kFedChanges)) return load_changes(object);
  if (object.format != kRuleFormat) return other_format(object);
  const MutexLock lock(mutex_);
  return rules_.add(object.bytes, Strictness::kTolerant);
}

Result<void> StatisticsBranch::load_interface(const SavedObject& object, const Loading& loading) {
  if (object.format != kInterfaceFormat) return other_format(object);
  if (!is_name(object.label)) return Error{ErrorCode::kInvalid, "this is no interface's name"};
  ByteReader in(object.bytes);
  auto loaded = Interface::load(in, ledger_);
  if (!loaded) return loaded.error();
  if (in.left() != 0) return Error{ErrorCode::kInvalid, "there is something behind the interface"};
  loaded.value()->resume(loading.boot, loading.now);
  const MutexLock lock(mutex_);
  if (find_interface(object.label)) {
    return Error{ErrorCode::kExists, "there is an interface of that name already"};
  }
  InterfaceEntry& entry = enter(object.label, std::move(loaded.value()), loading.now);
  for (Statistic* const statistic : entry.interface->statistics()) enter(entry, statistic);
  return {};
}

}  // namespace tallyfs::statistics
