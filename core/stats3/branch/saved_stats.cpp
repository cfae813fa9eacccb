#include "core/stats3/branch/saved_stats.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/bytes.h"
#include "core/base/keyed_hash.h"
#include "core/stats3/blob/templates.h"
#include "core/wire/line.h"

namespace tallyfs::stats3 {
namespace {

Error not_saved_here() { return {ErrorCode::kInvalid, "no saved object of stats/"}; }

std::string encode(const FeederTemplates::Saved& saved) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put(std::uint32_t{saved.uid});
  out.put(saved.hash);
  out.put_text(saved.names.name);
  out.put(static_cast<std::uint32_t>(saved.names.vois.size()));
  for (const std::string& each : saved.names.vois) out.put_text(each);
  return bytes;
}

Result<FeederTemplates::Saved> decode(std::string_view bytes) {
  ByteReader in(bytes);
  FeederTemplates::Saved saved;
  saved.uid = in.get<std::uint32_t>();
  saved.hash = in.get<std::uint32_t>();
  saved.names.name = in.get_text();
  for (auto left = in.get<std::uint32_t>(); left != 0 && in.ok(); --left) {
    saved.names.vois.emplace_back(in.get_text());
    if (saved.names.vois.back().size() > blob::kVoiNameBytesMax) in.fail();
  }
  if (!in.ok() || in.left() != 0) return not_saved_here();
  return saved;
}

}  // namespace

std::vector<SavedEntry> list_saved(const Subsystems& subsystems) {
  std::vector<SavedEntry> all;
  for (const auto& [name, subsystem] : subsystems.all()) {
    all.push_back({subsystem->node, name, subsystem->uid, subsystem->rates, nullptr});
    for (const auto& [object_name, object] : subsystem->objects) {
      if (object->lifetime == Lifetime::kFeeder) continue;
      std::string label = name;
      label.append("/").append(object_name);
      all.push_back({object->freeform, std::move(label), subsystem->uid, nullptr, object->content});
    }
  }
  return all;
}

bool put_template(const FeederTemplates::Saved& saved, ObjectSink& sink) {
  std::string label = saved.names.name;
  label.append(":").append(std::to_string(saved.hash));
  return sink.put(saved_object(SavedKind::kTemplate, kSavedFormat, label, encode(saved)));
}

bool put_saved(std::vector<SavedEntry> entries, ObjectSink& sink) {
  std::ranges::sort(entries, {}, &SavedEntry::node);
  std::string bytes;
  for (const SavedEntry& each : entries) {
    bytes.clear();
    ByteWriter out(bytes);
    SavedKind kind = SavedKind::kStatsObject;
    if (each.rates) {
      kind = SavedKind::kSubsystem;
      out.put(std::uint32_t{each.uid});
      each.rates->save(out);
    } else {
      each.object->save(out);
    }
    if (!sink.put(saved_object(kind, kSavedFormat, each.label, bytes))) return false;
  }
  return true;
}

std::uint64_t stamp_of(const std::vector<SavedEntry>& entries) {
  std::uint64_t stamp = 0;
  for (const SavedEntry& each : entries) {
    const std::uint64_t version =
        each.rates ? std::uint64_t{each.rates->changes()} : each.object->published();
    stamp += spread(spread(each.node) + version);
  }
  return stamp;
}

Result<void> load_template(FeederTemplates& templates, const SavedObject& object, Timestamp now) {
  auto saved = decode(object.bytes);
  if (!saved) return saved.error();
  return templates.restore(std::move(saved.value()), now);
}

Result<void> load_subsystem(Subsystems& subsystems, const SavedObject& object, Timestamp now) {
  if (subsystems.find(object.label))
    return Error{ErrorCode::kExists, "there is one of that name already"};
  ByteReader in(object.bytes);
  const auto uid = in.get<std::uint32_t>();
  auto made = subsystems.prepare(object.label, uid, now);
  if (!made) return made.error();
  made.value().rates->load(in, now);
  if (!in.ok() || in.left() != 0) {
    made.value().rates->detach();
    subsystems.take_back(made.value());
    return not_saved_here();
  }
  subsystems.enter(std::move(made.value()), now);
  return {};
}

Result<void> load_object(Subsystems& subsystems, const SavedObject& object, Timestamp now) {
  const wire::Path path = wire::split_path(object.label);
  Subsystem* const owner = subsystems.find(path.interface);
  if (!owner) return Error{ErrorCode::kNotFound, "its subsystem is not there"};
  if (find_object(*owner, path.statistic)) {
    return Error{ErrorCode::kExists, "there is one of that name already"};
  }
  const auto made = subsystems.add_object(*owner, path.statistic, now);
  if (!made) return made.error();
  ByteReader in(object.bytes);
  auto loaded = made.value()->content->load(in, now);
  if (loaded && in.left() != 0) loaded = not_saved_here();
  if (!loaded) subsystems.forget(*made.value(), now);
  return loaded;
}

}  // namespace tallyfs::stats3
