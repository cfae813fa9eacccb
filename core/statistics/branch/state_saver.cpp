#include "core/statistics/branch/saved_state.h"

#include "core/statistics/branch/command_text.h"

namespace tallyfs::statistics {
namespace {

constexpr std::string_view kRulesName = "rules";  // of their file, in the root

template <typename Number>
void put_all(ByteWriter& out, const std::vector<Number>& numbers) {
  out.put(static_cast<std::uint32_t>(numbers.size()));
  for (const Number each : numbers) out.put(each);
}

FedInterface fed_interface(const InterfaceEntry& entry) {
  FedInterface fed{.node = entry.node,
                   .name = entry.name,
                   .interface = entry.interface,
                   .changes = entry.changes};
  entry.feeders.each([&](pid_t process) { fed.feeders.push_back(process); });
  return fed;
}

std::string bytes_of(const FedInterface& fed, CellBudget& budget, const AtInput& at_input) {
  std::string bytes;
  ByteWriter out(bytes);
  put_all(out, fed.feeders);
  fed.interface->save_for_successor(out, budget, at_input);
  return bytes;
}

// False: the sink takes no more.
bool put_fed(const FedInterface& fed, ObjectSink& sink, const AtInput& at_input) {
  const ObjectVersion version{fed.node, fed.interface->changes() + fed.changes};
  if (!sink.wants(SavedKind::kFedInterface, fed.name, version)) return true;
  CellBudget budget;  // for each, as what is saved should be as of now
  const std::string bytes = bytes_of(fed, budget, at_input);
  return sink.put(saved_object(SavedKind::kFedInterface, kFedFormat, fed.name, bytes));
}

// False: the sink takes no more.
bool put_lasting(const Listed& saved, ObjectSink& sink) {
  const ObjectVersion version{saved.node, saved.interface->changes()};
  if (!sink.wants(SavedKind::kInterface, saved.name, version)) return true;
  CellBudget budget;  // for each, as what is saved should be as of now
  std::string bytes;
  ByteWriter out(bytes);
  saved.interface->save(out, budget);
  return sink.put(saved_object(SavedKind::kInterface, kInterfaceFormat, saved.name, bytes));
}

}  // namespace

// In the order in which they came: nodes are numbered so, and so is the listing.
std::vector<Listed> StateSaver::list_lasting() const {
  std::vector<Listed> all;
  {
    const MutexLock lock(mutex_);
    all.reserve(registry_.interfaces().size());
    for (const auto& [key, entry] : registry_.interfaces()) {
      if (entry->name == kOwnInterface || !entry->feeders.empty()) continue;
      all.push_back({entry->node, entry->name, entry->interface});
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  return all;
}

// In the order in which they came, which is that of the listing. All but the daemon's own.
std::vector<FedInterface> StateSaver::list_fed() const {
  std::vector<FedInterface> all;
  const MutexLock lock(mutex_);
  all.reserve(registry_.interfaces().size());
  for (const auto& [key, entry] : registry_.interfaces()) {
    if (entry->name != kOwnInterface) all.push_back(fed_interface(*entry));
  }
  std::ranges::sort(all, {}, &FedInterface::node);
  return all;
}

FedInterface StateSaver::find_fed(std::string_view name) const {
  const MutexLock lock(mutex_);
  const InterfaceEntry* const entry = registry_.find_interface(name);
  return entry && name != kOwnInterface ? fed_interface(*entry) : FedInterface{};
}

bool StateSaver::put_rules(ObjectSink& sink) const {
  std::vector<std::string> rules;
  {
    const MutexLock lock(mutex_);
    rules = rules_.rules().written();
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

void StateSaver::put_numbers(ObjectSink& sink) const {
  std::string bytes;
  ByteWriter out(bytes);
  {
    const MutexLock lock(mutex_);
    registry_.save_numbers(out);
  }
  sink.put(saved_object(SavedKind::kStatisticNumbers, kNumbersFormat, "statistics", bytes));
}

void StateSaver::save(ObjectSink& sink) const {
  if (!put_rules(sink)) return;
  if (sink.reader() == ObjectSink::Reader::kSuccessor) {
    for (const FedInterface& each : list_fed()) {
      if (!put_fed(each, sink, at_input_)) return;
    }
    return put_numbers(sink);
  }
  for (const Listed& each : list_lasting()) {
    if (!put_lasting(each, sink)) return;
  }
}

// Another thread may make or remove it meanwhile, and be done before this one has written: what is
// written last is what is there.
void StateSaver::put_whole(std::string_view name, FedInterface found, ObjectSink& sink,
                           Timestamp now) const {
  NodeId written = 0;
  do {
    written = found.node;
    if (found.interface) {
      (void)found.interface->version(now);
      (void)put_fed(found, sink, at_input_);
    } else {
      sink.gone(SavedKind::kFedInterface, name);
    }
    found = find_fed(name);
  } while (found.node != written);
}

// Rules are all saved when one is written: each has its number for a label, and those behind the
// last one are gone.
Branch::SavedAt StateSaver::save_at(std::string_view path, ObjectSink& sink, Timestamp now) const {
  constexpr std::string_view kBegin = "statistics/";
  if (path == kRulesName) {
    (void)put_rules(sink);
    return Branch::SavedAt::kDone;
  }
  if (!path.starts_with(kBegin)) return Branch::SavedAt::kElsewhere;
  const std::string_view behind = path.substr(kBegin.size());
  const std::string_view name = behind.substr(0, behind.find('/'));
  put_whole(name, find_fed(name), sink, now);
  return Branch::SavedAt::kDone;
}

void StateSaver::save_for_successor(ObjectSink& sink, Timestamp now) const {
  if (!put_rules(sink)) return;
  auto all = list_fed();
  {
    const MutexLock lock(mutex_);
    all.push_back(fed_interface(*registry_.find_interface(kOwnInterface)));
  }
  CellBudget budget = CellBudget::for_the_end();
  for (const FedInterface& each : all) {
    (void)each.interface->version(now, budget);
    const std::string bytes = bytes_of(each, budget, at_input_);
    if (!sink.put(saved_object(SavedKind::kFedInterface, kFedFormat, each.name, bytes))) return;
  }
  put_numbers(sink);
}

std::uint64_t StateSaver::stamp(Timestamp now) const {
  std::uint64_t stamp = 0;
  for (const FedInterface& each : list_fed()) {
    stamp += spread(spread(each.node) + each.interface->version(now) + each.changes);
  }
  const MutexLock lock(mutex_);
  return stamp + spread(static_cast<std::uint64_t>(rules_.changed().monotonic.count()));
}

}  // namespace tallyfs::statistics
