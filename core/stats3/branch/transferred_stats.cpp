#include "core/stats3/branch/transferred_stats.h"

#include <algorithm>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/keyed_hash.h"
#include "core/stats3/branch/processes_saved.h"
#include "core/stats3/branch/saved_stats.h"
#include "core/wire/line.h"

namespace tallyfs::stats3 {
namespace {

Error not_handed_on() { return {ErrorCode::kInvalid, "not what stats/ hands on"}; }

TransferredEntry handed(const Subsystem& subsystem) {
  TransferredEntry handed{
      .node = subsystem.node, .label = subsystem.name, .rates = subsystem.rates};
  std::vector<pid_t> feeders;
  subsystem.feeders.each([&](pid_t process) { feeders.push_back(process); });
  ByteWriter out(handed.head);
  out.put(subsystem.number);
  out.put(std::uint32_t{subsystem.uid});
  put_processes(out, feeders);
  return handed;
}

TransferredEntry handed(const Object& object) {
  TransferredEntry handed{
      .node = object.freeform, .kind = SavedKind::kFedStatsObject, .object = object.content};
  handed.label.append(object.owner->name).append("/").append(object.name);
  ByteWriter out(handed.head);
  out.put(object.number);
  out.put(std::int32_t{object.feeder});
  out.put(std::uint8_t{object.lifetime == Lifetime::kFeeder});
  return handed;
}

std::string bytes_of(const TransferredEntry& entry) {
  std::string bytes = entry.head;
  ByteWriter out(bytes);
  if (entry.rates) entry.rates->save_for_successor(out);
  if (entry.object) entry.object->save_for_successor(out);
  return bytes;
}

// Behind a kill, what is saved may be older than its removal. Beyond the page there is no switch
// that says so, and it comes back.
bool was_removed(const Subsystems& subsystems, std::uint64_t number, const Loading& loading) {
  return loading.has_pages && loading.is_after_kill && subsystems.was_taken_back(number);
}

}  // namespace

std::vector<TransferredEntry> list_handed(const Subsystems& subsystems) {
  std::vector<TransferredEntry> all;
  for (const auto& [name, subsystem] : subsystems.all()) {
    all.push_back(handed(*subsystem));
    for (const auto& [object_name, object] : subsystem->objects) all.push_back(handed(*object));
  }
  std::ranges::sort(all, {}, &TransferredEntry::node);
  return all;
}

std::string handed_numbers(const Subsystems& subsystems) {
  std::string bytes;
  ByteWriter out(bytes);
  subsystems.save_numbers(out);
  return bytes;
}

bool put_handed_templates(const FeederTemplates& templates, ObjectSink& sink) {
  std::string bytes;
  for (const FeederTemplates::Saved& each : templates.all()) {
    if (!put_template(each, sink)) return false;
    bytes.clear();
    ByteWriter out(bytes);
    out.put(std::uint32_t{each.uid});
    out.put(each.hash);
    put_processes(out, templates.tellers(each.uid, each.hash));
    const auto tellers = saved_object(SavedKind::kTellers, kSavedFormat, each.names.name, bytes);
    if (!sink.put(tellers)) return false;
  }
  return true;
}

bool put_handed(const std::vector<TransferredEntry>& entries, ObjectSink& sink) {
  for (const TransferredEntry& each : entries) {
    const std::string bytes = bytes_of(each);
    if (!sink.put(saved_object(each.kind, kSavedFormat, each.label, bytes))) return false;
  }
  return true;
}

void put_handed_numbers(std::string_view numbers, ObjectSink& sink) {
  sink.put(saved_object(SavedKind::kStatsNumbers, kSavedFormat, "stats", numbers));
}

std::uint64_t feeders_stamp(const Subsystems& subsystems) {
  std::uint64_t stamp = 0;
  const auto add = [&stamp](std::uint64_t number, std::uint64_t of) {
    stamp += spread(spread(number) + of);
  };
  for (const auto& [name, subsystem] : subsystems.all()) {
    add(subsystem->number, 0);
    subsystem->feeders.each([&, number = subsystem->number](pid_t process) {
      add(number, static_cast<std::uint64_t>(process));
    });
    for (const auto& [object_name, object] : subsystem->objects) {
      const bool is_its_feeders = object->lifetime == Lifetime::kFeeder;
      add(object->number, 2 * static_cast<std::uint64_t>(object->feeder) + is_its_feeders);
      if (is_its_feeders) add(object->number, spread(object->content->published()));
    }
  }
  return stamp;
}

Result<void> load_tellers(FeederTemplates& templates, const SavedObject& object,
                          const Loading& loading) {
  if (!loading.has_pages) return {};
  ByteReader in(object.bytes);
  const uid_t uid = in.get<std::uint32_t>();
  const auto hash = in.get<std::uint32_t>();
  const auto processes = get_processes(in);
  if (!in.ok() || in.left() != 0) return not_handed_on();
  for (const pid_t each : processes) {
    if (auto told = templates.restore_teller(uid, hash, each); !told) return told;
  }
  return {};
}

Result<void> load_fed_subsystem(Subsystems& subsystems, const SavedObject& object,
                                const Loading& loading) {
  if (subsystems.find(object.label))
    return Error{ErrorCode::kExists, "there is one of that name already"};
  ByteReader in(object.bytes);
  const auto number = in.get<std::uint64_t>();
  const uid_t uid = in.get<std::uint32_t>();
  const auto feeders = get_processes(in);
  if (!in.ok()) return not_handed_on();
  if (was_removed(subsystems, number, loading)) return {};
  const Subsystems::Number before = loading.has_pages ? Subsystems::Number(number) : std::nullopt;
  auto made = subsystems.prepare(object.label, uid, loading.now, before);
  if (!made) return made.error();
  Subsystem& subsystem = made.value();
  subsystem.rates->load_transferred(in);
  if (!in.ok() || in.left() != 0) {
    subsystem.rates->detach();
    if (!before) subsystems.take_back(subsystem);
    return not_handed_on();
  }
  Result<void> added;
  for (const pid_t each : feeders) {
    if (loading.has_pages && added) added = subsystems.add_feeder(subsystem, each);
  }
  if (!loading.has_pages) {
    for (const pid_t each : feeders) subsystem.rates->drop_feeder(each);
  }
  subsystems.enter(std::move(subsystem), loading.now);
  return added;
}

// Without the pages, a feeder comes again, and with it an object that has its lifetime.
Result<void> load_fed_object(Subsystems& subsystems, const SavedObject& object,
                             const Loading& loading) {
  ByteReader in(object.bytes);
  const auto number = in.get<std::uint64_t>();
  if (in.ok() && was_removed(subsystems, number, loading)) return {};
  const wire::Path path = wire::split_path(object.label);
  Subsystem* const owner = subsystems.find(path.interface);
  if (!owner) return Error{ErrorCode::kNotFound, "its subsystem is not there"};
  if (find_object(*owner, path.statistic)) {
    return Error{ErrorCode::kExists, "there is one of that name already"};
  }
  const pid_t feeder = in.get<std::int32_t>();
  const auto lifetime = in.get_flag() ? Lifetime::kFeeder : Lifetime::kForGood;
  if (!in.ok()) return not_handed_on();
  if (!loading.has_pages && lifetime == Lifetime::kFeeder) return {};
  const Subsystems::Number before = loading.has_pages ? Subsystems::Number(number) : std::nullopt;
  const auto made = subsystems.add_object(*owner, path.statistic, loading.now, before);
  if (!made) return made.error();
  auto loaded = made.value()->content->load_transferred(in, loading.now);
  if (loaded && in.left() != 0) loaded = not_handed_on();
  if (!loaded) {
    subsystems.forget(*made.value(), loading.now);
    return loaded;
  }
  if (!loading.has_pages) return {};
  made.value()->feeder = feeder;
  made.value()->lifetime = lifetime;
  return {};
}

Result<void> load_numbers(Subsystems& subsystems, const SavedObject& object,
                          const Loading& loading) {
  if (!loading.has_pages) return {};
  ByteReader in(object.bytes);
  if (loading.is_after_kill) {
    subsystems.finish_late_restore_of_numbers(in);
    return {};
  }
  if (subsystems.finish_restore_of_numbers(in)) return {};
  return not_handed_on();
}

}  // namespace tallyfs::stats3
