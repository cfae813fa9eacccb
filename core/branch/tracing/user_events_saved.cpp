// What of the events of programs outlives the daemon (core/state/FORMAT.md, kind 6). Numbers and
// switches do not: programs register anew with each daemon.
#include <utility>

#include "core/base/bytes.h"
#include "core/branch/tracing/user_events.h"

namespace tallyfs {
namespace {

constexpr std::uint16_t kEventFormat = 1;

struct SavedEvent {
  std::string system, name, definition;
  uid_t uid = 0;
  bool for_good = false;
};

Error not_an_event() { return {ErrorCode::kInvalid, "not an event as save() writes it"}; }

std::string label_of(const SavedEvent& event) {
  std::string label = event.system;
  return label.append("/").append(event.name);
}

}  // namespace

bool UserEvents::save(ObjectSink& sink) const {
  std::vector<SavedEvent> all;
  {
    const MutexLock lock(mutex_);
    for (const auto& [path, number] : by_path_) {
      const Event& event = **events_.find(number);
      all.push_back({path.first, path.second, event.fields.text(), event.uid, event.for_good});
    }
  }
  std::string bytes;
  for (const SavedEvent& each : all) {
    const auto [id, is_in_use] = tracing_.known(each.system, each.name);
    if (!each.for_good && !is_in_use) continue;
    bytes.clear();
    ByteWriter out(bytes);
    out.put(std::uint32_t{each.uid});
    out.put(std::uint8_t{each.for_good});
    out.put(id);
    out.put_text(each.system);
    out.put_text(each.definition);
    if (!sink.put(saved_object(SavedKind::kProgramEvent, kEventFormat, label_of(each), bytes))) {
      return false;
    }
  }
  return true;
}

std::uint64_t UserEvents::stamp() const {
  const MutexLock lock(mutex_);
  std::uint64_t stamp = 0;
  for (const auto& [path, number] : by_path_) {
    const Event& event = **events_.find(number);
    stamp += spread(2 * number + (event.for_good ? 1 : 0));
  }
  return stamp;
}

// An event that was there only for what is set on it is removed once nothing is.
Result<void> UserEvents::load(const SavedObject& object, Moment now) {
  if (object.format != kEventFormat) return other_format(object);
  ByteReader in(object.bytes);
  const auto uid = in.get<std::uint32_t>();
  const bool for_good = in.get_flag();
  const auto id = in.get<std::uint16_t>();
  const std::string system(in.get_text());
  const std::string definition(in.get_text());
  if (!in.ok() || in.left() != 0) return not_an_event();
  auto fields = FieldsDefinition::parse(definition);
  if (!fields) return fields.error().in(system, definition);
  const Path path(system, fields.value().name);
  const MutexLock one_at_a_time(defining_);
  {
    const MutexLock lock(mutex_);
    if (find(path)) return Error{ErrorCode::kExists, "there is one of that name already"};
  }
  const auto held = tracing_.hold_id(path.first, path.second, id);
  const auto entered = enter(path, std::move(fields.value()), uid, now);
  if (!entered) return entered.error();
  if (!for_good) {
    has_unkept_ = true;
    return {};
  }
  return add_feeder(path, Lifetime::kForGood, Sender(uid));
}

}  // namespace tallyfs
