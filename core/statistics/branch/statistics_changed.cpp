// What commands of the socket have changed is written for the next server before they are answered:
// the statistics that they name, or an interface.
#include <algorithm>
#include <charconv>
#include <span>
#include <string>
#include <utility>

#include "core/statistics/branch/statistics_branch.h"

namespace tallyfs::statistics {
namespace {

// Format 1, which no release has had, did not begin with the version.
constexpr std::uint16_t kChangesFormat = 2;

}  // namespace

// Each interface is written once, in whatever order lines name several. The intake writes after 64
// commands, so that there are few.
StatisticsBranch::Changed& StatisticsBranch::noted(std::string_view interface) {
  has_changed_.store(true, std::memory_order_relaxed);
  const auto found = std::ranges::find(changed_, interface, &Changed::interface);
  if (found != changed_.end()) return *found;
  changed_.push_back({.interface = std::string(interface), .statistics = {}});
  return changed_.back();
}

void StatisticsBranch::note_changed(std::string_view interface, std::string_view statistic) {
  if (!keeping_.write) return;
  auto& statistics = noted(interface).statistics;
  if (statistics.empty() || statistics.back() != statistic) statistics.emplace_back(statistic);
}

void StatisticsBranch::note_changed(std::string_view interface, Extent extent) {
  if (!keeping_.write) return;
  Changed& changed = noted(interface);
  changed.extent = std::max(changed.extent, extent);
}

bool StatisticsBranch::write_changed(Timestamp now) {
  std::vector<Changed> changed;
  {
    const MutexLock lock(mutex_);
    has_changed_.store(false, std::memory_order_relaxed);
    changed = std::exchange(changed_, {});
  }
  bool are_alone = true;
  for (const Changed& each : changed) are_alone &= write(each, now);
  return are_alone;
}

// What a line has changed in all of many statistics is saved soon. Those that are named, and an
// interface that was made, are not put off: nothing makes them again.
bool StatisticsBranch::write(Changed changed, Timestamp now) {
  const Handed handed = find_handed(changed.interface);
  const bool is_long = handed.interface && handed.interface->size() > Interface::kLineAtOnce;
  if (changed.extent == Extent::kStatistics && is_long) {
    keeping_.save_soon();
    if (changed.statistics.empty()) return true;
    changed.extent = Extent::kNamed;
  }
  return keeping_.write([&](ObjectSink& sink) { put(changed, handed, sink, now); });
}

void StatisticsBranch::put(const Changed& changed, const Handed& handed, ObjectSink& sink,
                           Timestamp now) {
  const bool are_some = handed.interface && changed.extent == Extent::kNamed &&
                        changed.statistics.size() < handed.interface->size();
  if (are_some && sink.wants_changes(handed.name, handed.node) &&
      put_changes(changed, handed, sink)) {
    return;
  }
  put_whole(changed.interface, handed, sink, now);
}

// False: the sink wants the interface instead.
bool StatisticsBranch::put_changes(const Changed& changed, const Handed& handed,
                                   ObjectSink& sink) {
  std::span<const std::string> left(changed.statistics);
  while (!left.empty()) {
    const std::string number = std::to_string(changes_written_.fetch_add(1));
    const std::string label = changed.interface + "/" + number;
    const ObjectVersion version{handed.node, handed.interface->changes() + handed.changes};
    std::string bytes;
    ByteWriter out(bytes);
    const auto saved = handed.interface->save_changes(out, left);
    left = left.subspan(saved.names);
    {
      const MutexLock lock(mutex_);
      raise_first_version(saved.version);
    }
    if (!sink.put_changes(saved_object(SavedKind::kFedChanges, kChangesFormat, label, bytes),
                          version)) {
      return false;
    }
  }
  return true;
}

// Another thread may make or remove it meanwhile, and be done before this one has written: what is
// written last is what is there.
void StatisticsBranch::put_whole(std::string_view name, Handed found, ObjectSink& sink,
                                 Timestamp now) const {
  NodeId written = 0;
  do {
    written = found.node;
    if (found.interface) {
      (void)found.interface->version(now);
      (void)put_fed(found, sink);
    } else {
      sink.gone(SavedKind::kFedInterface, name);
    }
    found = find_handed(name);
  } while (found.node != written);
}

// The keeper's memory may have changes of an interface for some time after another one of its name
// has been written there, also those that the server before has written. The next server must not
// put them into that one, which has all of its versions behind theirs.
void StatisticsBranch::raise_first_version(std::uint64_t version) {
  first_version_ = std::max(first_version_, version);
}

StatisticsBranch::Handed StatisticsBranch::find_handed(std::string_view interface) const {
  const MutexLock lock(mutex_);
  const InterfaceEntry* const entry = find_interface(interface);
  return entry && interface != kOwnName ? handed(*entry) : Handed{};
}

Result<void> StatisticsBranch::load_changes(const SavedObject& object) {
  if (object.format != kChangesFormat) return other_format(object);
  const std::size_t slash = object.label.rfind('/');
  const std::string_view interface = object.label.substr(0, slash);
  std::uint64_t number = 0;
  if (slash != std::string_view::npos) {
    const char* const end = object.label.data() + object.label.size();
    (void)std::from_chars(object.label.data() + slash + 1, end, number);
  }
  const MutexLock lock(mutex_);
  changes_written_ = std::max<std::uint64_t>(changes_written_, number + 1);
  raise_first_version(Interface::version_of_changes(object.bytes));
  changes_before_[std::string(interface)].emplace_back(object.bytes);
  return {};
}

Result<void> StatisticsBranch::take_changes(std::string_view name, Interface& interface) {
  const MutexLock lock(mutex_);
  const auto found = changes_before_.find(std::string(name));
  auto taken = found == changes_before_.end() ? Result<void>()
                                              : interface.load_changes(found->second);
  raise_first_version(interface.changes());
  return taken;
}

}  // namespace tallyfs::statistics
