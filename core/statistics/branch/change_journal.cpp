#include "core/statistics/branch/saved_state.h"

namespace tallyfs::statistics {

// Each interface is written once, in whatever order lines name several. The intake writes after 64
// commands, so that there are few.
Changed& PendingChanges::of(std::string_view interface) {
  has_some_.store(true, std::memory_order_relaxed);
  const auto found = std::ranges::find(changed_, interface, &Changed::interface);
  if (found != changed_.end()) return *found;
  changed_.push_back({.interface = std::string(interface), .statistics = {}});
  return changed_.back();
}

void PendingChanges::note(std::string_view interface, std::string_view statistic) {
  if (!are_kept_) return;
  auto& statistics = of(interface).statistics;
  if (statistics.empty() || statistics.back() != statistic) statistics.emplace_back(statistic);
}

void PendingChanges::note(std::string_view interface, Changed::Extent extent) {
  if (!are_kept_) return;
  Changed& changed = of(interface);
  changed.extent = std::max(changed.extent, extent);
}

void ChangeJournal::keep(Keeping keeping) {
  keeping_ = std::move(keeping);
  const MutexLock lock(mutex_);
  pending_.keep();
}

bool ChangeJournal::write_all(Timestamp now) {
  std::vector<Changed> changed;
  {
    const MutexLock lock(mutex_);
    changed = pending_.take();
  }
  bool are_alone = true;
  for (const Changed& each : changed) are_alone &= write(each, now);
  return are_alone;
}

// A change of all of many statistics is saved soon. Changes of named statistics, and an interface
// that was made, are written at once: nothing makes them again.
bool ChangeJournal::write(Changed changed, Timestamp now) {
  const FedInterface fed = saver_.find_fed(changed.interface);
  const bool is_long = fed.interface && fed.interface->size() > Interface::kLineAtOnce;
  if (changed.extent == Changed::Extent::kStatistics && is_long) {
    keeping_.save_soon();
    if (changed.statistics.empty()) return true;
    changed.extent = Changed::Extent::kNamed;
  }
  return keeping_.write([&](ObjectSink& sink) { put(changed, fed, sink, now); });
}

void ChangeJournal::put(const Changed& changed, const FedInterface& fed, ObjectSink& sink,
                        Timestamp now) {
  const bool are_some = fed.interface && changed.extent == Changed::Extent::kNamed &&
                        changed.statistics.size() < fed.interface->size();
  if (are_some && sink.wants_changes(fed.name, fed.node) && put_changes(changed, fed, sink)) {
    return;
  }
  saver_.put_whole(changed.interface, fed, sink, now);
}

// False: the sink wants the interface instead.
bool ChangeJournal::put_changes(const Changed& changed, const FedInterface& fed, ObjectSink& sink) {
  std::span<const std::string> left(changed.statistics);
  while (!left.empty()) {
    const std::string number = std::to_string(written_.fetch_add(1));
    const std::string label = changed.interface + "/" + number;
    const ObjectVersion version{fed.node, fed.interface->changes() + fed.changes};
    std::string bytes;
    ByteWriter out(bytes);
    const auto saved = fed.interface->save_changes(out, left, saver_.at_input());
    left = left.subspan(saved.names);
    {
      const MutexLock lock(mutex_);
      registry_.raise_first_version(saved.version);
    }
    if (!sink.put_changes(saved_object(SavedKind::kFedChanges, kChangesFormat, label, bytes),
                          version)) {
      return false;
    }
  }
  return true;
}

}  // namespace tallyfs::statistics
