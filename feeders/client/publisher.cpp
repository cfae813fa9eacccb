// Registers and removes the objects of a Publisher, and sends blobs. Requests are in
// publisher_requests.cpp, responses in publisher_responses.cpp.
#include "feeders/client/publisher.h"

#include <cerrno>
#include <utility>

#include "core/base/text.h"
#include "core/stats3/blob/templates.h"

namespace tallyfs {
namespace {

constexpr std::size_t kObjectNameBytesMax = 250;

Error not_a_name(const char* whose) {
  return {ErrorCode::kInvalid, std::string("not a name of ") + whose};
}

}  // namespace

Publisher::Publisher(Conversation& conversation, Switches& switches)
    : Requester(conversation), switches_(switches) {}

// ---- what there is

FedSubsystem* Publisher::find_subsystem(std::string_view name) const {
  const auto found = subsystems_.find(name);
  return found == subsystems_.end() ? nullptr : found->second.get();
}

FedSubsystem* Publisher::find_subsystem(std::string_view name, std::uint64_t id) const {
  FedSubsystem* const found = find_subsystem(name);
  return found && found->id == id ? found : nullptr;
}

Result<FedSubsystem*> Publisher::make_subsystem(std::string_view name) {
  if (FedSubsystem* const found = find_subsystem(name)) return found;
  // `templates` is the list of those.
  if (!is_name(name) || name == "templates") return not_a_name("a subsystem");
  if (things() >= kThingsMax) {
    return Error{ErrorCode::kNoSpace, "too many subsystems and objects"};
  }
  auto made = std::make_unique<FedSubsystem>();
  made->id = ++last_id_;
  made->name = name;
  note_change();
  return subsystems_.emplace(name, std::move(made)).first->second.get();
}

FedObject* Publisher::find(std::string_view subsystem, std::string_view name) const {
  const FedSubsystem* const owner = find_subsystem(subsystem);
  if (!owner) return nullptr;
  const auto found = owner->objects.find(name);
  return found == owner->objects.end() ? nullptr : found->second;
}

FedObject* Publisher::find_object(std::string_view subsystem, std::string_view name,
                                  std::uint64_t id) const {
  FedObject* const found = find(subsystem, name);
  return found && found->id == id ? found : nullptr;
}

Result<FedObject*> Publisher::create(std::string_view subsystem, std::string_view name,
                                     unsigned flags, Holder holder) {
  constexpr unsigned kFlags = STATS_PUBLISH_ALWAYS | STATS_LIFETIME_FEEDER;
  if (!is_name(name) || name.size() > kObjectNameBytesMax || name == "sample_rates" ||
      name.ends_with(".json") || (flags & ~kFlags) != 0) {
    return not_a_name("an object");
  }
  if (find(subsystem, name)) return Error{ErrorCode::kExists, "there is an object of that name"};
  const auto owner = make_subsystem(subsystem);
  if (!owner) return owner.error();
  // A new object in a subsystem that a user has removed brings the subsystem back.
  if (owner.value()->registration == Registration::kRemoved)
    owner.value()->registration = Registration::kUnregistered;
  if (things() >= kThingsMax) {
    return Error{ErrorCode::kNoSpace, "too many subsystems and objects"};
  }
  auto made = std::make_unique<FedObject>();
  FedObject* const object = made.get();
  object->id = ++last_id_;
  object->subsystem = owner.value();
  object->name = name;
  object->flags = flags;
  object->has_handle = holder == Holder::kProgram;
  objects_.emplace(object, std::move(made));
  owner.value()->objects.emplace(name, object);
  note_change();
  return object;
}

void Publisher::remove(FedObject& object) {
  if (!object.subsystem) {
    withdrawn_.erase(&object);
    return;
  }
  if (object.was_requested && object.registration != Registration::kRemoved &&
      object.registration != Registration::kRefused) {
    withdrawals_.push_back("withdraw " + object.subsystem->name + "/" + object.name);
    note_change();
  }
  object.subsystem->objects.erase(object.name);
  objects_.erase(&object);
}

bool Publisher::remove_subsystem(std::string_view name) {
  const auto found = subsystems_.find(name);
  if (found == subsystems_.end()) return false;
  for (const auto& [each, object] : found->second->objects) {
    auto owned = objects_.extract(object);
    if (!object->has_handle) continue;
    object->subsystem = nullptr;
    object->registration = Registration::kRemoved;
    object->kept.clear();
    point_at_switch(*object);
    withdrawn_.insert(std::move(owned));
  }
  withdrawals_.push_back("withdraw " + found->second->name);
  subsystems_.erase(found);
  note_change();
  return true;
}

Result<void> Publisher::follow_rates(std::string_view subsystem, stats_tpl_sr_cb_t callback,
                                     std::size_t context_bytes, std::string rates) {
  const auto made = make_subsystem(subsystem);
  if (!made) return made.error();
  if (made.value()->callback) return Error{ErrorCode::kExists, "these rates are followed already"};
  made.value()->callback = callback;
  made.value()->context_bytes = context_bytes;
  made.value()->rates = std::move(rates);
  // Known without a callback, it was made without these.
  made.value()->wants_rates = made.value()->registration == Registration::kRegistered;
  note_change();
  return {};
}

void Publisher::refuse_rates(std::string_view subsystem, int error) {
  FedSubsystem* const found = find_subsystem(subsystem);
  if (!found) return;
  found->rates_refusal = error;
  note_change();
}

// ---- blobs

int Publisher::publish(FedObject& object, std::string_view blob) {
  const bool is_registered = object.registration == Registration::kRegistered;
  if (is_registered && switches_.is_void(object.number)) look_for_void();
  switch (object.registration) {
    case Registration::kRemoved:
      return -ENOENT;
    case Registration::kRefused:
      return -object.refusal;
    case Registration::kUnregistered:
    case Registration::kRequested:
      object.kept = blob;
      if (std::exchange(object.is_inherited, false)) note_change();
      return -object.subsystem->refusal;
    case Registration::kRegistered:
      break;
  }
  return send(object, blob);
}

void Publisher::keep(FedObject& object, std::string_view blob) {
  object.kept = blob;
  has_kept_ = true;
  if (std::exchange(object.is_inherited, false)) note_change();
}

bool Publisher::send_kept() {
  if (!has_kept_) return true;
  has_kept_ = false;
  for (auto& [key, object] : objects_) {
    if (object->kept.empty() || object->registration != Registration::kRegistered) continue;
    if (switches_.is_void(object->number)) continue;
    if (send(*object, std::string(object->kept)) != 0) has_kept_ = true;
  }
  return !has_kept_;
}

int Publisher::send(FedObject& object, std::string_view blob) {
  if (stats3::blob::Templates::of_process().changes() != templates_seen_) note_change();
  blob_.clear(conversation_.epoch());
  blob_.blob(object.number, blob);
  switch (conversation_.link().send(blob_.bytes())) {
    case Link::Sent::kFull:
      return -EAGAIN;
    case Link::Sent::kGone:
      return -ENOTCONN;
    case Link::Sent::kDone:
      break;
  }
  object.kept.clear();
  if (!std::exchange(object.was_sent, true)) point_at_switch(object);
  return 0;
}

void Publisher::point_at_switch(FedObject& object) {
  const std::uint32_t* to = &FedStatistic::kOn;
  if (object.registration == Registration::kRegistered && object.was_sent &&
      (object.flags & STATS_PUBLISH_ALWAYS) == 0) {
    const std::uint32_t* const found = switches_.find(object.number);
    if (found) to = found;
  }
  __atomic_store_n(&object.on, to, __ATOMIC_RELEASE);
}

void Publisher::inherit() {
  has_kept_ = false;
  withdrawals_.clear();
  for (auto& [key, object] : objects_) {
    object->is_inherited = true;
    object->kept.clear();  // the parent sends it
  }
}

}  // namespace tallyfs
