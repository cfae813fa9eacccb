// What commands of the socket have changed is written for the next server before they are answered:
// the statistics that they name, or an interface.
#include <algorithm>
#include <string>
#include <utility>

#include "core/statistics/branch/statistics_branch.h"

namespace tallyfs::statistics {
namespace {

constexpr std::uint16_t kChangesFormat = 1;

}  // namespace

// Commands of a datagram are for one interface, as a rule.
StatisticsBranch::Changed& StatisticsBranch::noted(std::string_view interface) {
  has_changed_.store(true, std::memory_order_relaxed);
  const bool is_last = !changed_.empty() && changed_.back().interface == interface;
  if (!is_last) changed_.push_back({.interface = std::string(interface), .statistics = {}});
  return changed_.back();
}

void StatisticsBranch::note_changed(std::string_view interface, std::string_view statistic) {
  if (keeping_.write) noted(interface).statistics.emplace_back(statistic);
}

void StatisticsBranch::note_changed(std::string_view interface, Extent extent) {
  if (!keeping_.write) return;
  Changed& changed = noted(interface);
  changed.extent = std::max(changed.extent, extent);
}

bool StatisticsBranch::write_changed(Moment now) {
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
bool StatisticsBranch::write(Changed changed, Moment now) {
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
                           Moment now) {
  if (!handed.interface) return sink.gone(SavedKind::kFedInterface, changed.interface);
  const bool are_some =
      changed.extent == Extent::kNamed && changed.statistics.size() < handed.interface->size();
  if (are_some && sink.wants_changes(handed.name, handed.node)) {
    const std::string number = std::to_string(changes_written_.fetch_add(1));
    const std::string label = changed.interface + "/" + number;
    const ObjectVersion version{handed.node, handed.interface->changes() + handed.changes};
    std::string bytes;
    ByteWriter out(bytes);
    handed.interface->save_changes(out, changed.statistics);
    const auto object = saved_object(SavedKind::kFedChanges, kChangesFormat, label, bytes);
    if (sink.put_changes(object, version)) return;
  }
  (void)handed.interface->version(now);
  (void)put_fed(handed, sink);
}

StatisticsBranch::Handed StatisticsBranch::find_handed(std::string_view interface) const {
  const MutexLock lock(mutex_);
  const InterfaceEntry* const entry = find_interface(interface);
  return entry && interface != kOwnName ? handed(*entry) : Handed{};
}

Result<void> StatisticsBranch::load_changes(const SavedObject& object) {
  if (object.format != kChangesFormat) return other_format(object);
  const std::string_view interface = object.label.substr(0, object.label.find('/'));
  const MutexLock lock(mutex_);
  changes_before_[std::string(interface)].emplace_back(object.bytes);
  return {};
}

Result<void> StatisticsBranch::take_changes(std::string_view name, Interface& interface) {
  const MutexLock lock(mutex_);
  const auto found = changes_before_.find(std::string(name));
  if (found == changes_before_.end()) return {};
  for (const std::string& changes : found->second) {
    if (auto taken = interface.load_changes(changes); !taken) return taken;
  }
  return {};
}

}  // namespace tallyfs::statistics
