#include "feeders/client/publisher.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/text.h"
#include "core/blob/layout.h"
#include "core/blob/templates.h"
#include "feeders/client/registrar.h"
#include "feeders/client/request.h"

namespace tallyfs {
namespace {

constexpr std::size_t kObjectNameBytesMax = 250;
constexpr std::uint32_t kIdsEnd = Registrar::kEventIds;

Error not_a_name(const char* whose) {
  return {ErrorCode::kInvalid, std::string("not a name of ") + whose};
}

}  // namespace

Publisher::Publisher(Link& link, Switches& switches, std::function<void(std::string)> report)
    : link_(link), switches_(switches), report_(std::move(report)) {}

Publisher::~Publisher() = default;

// ---- what there is

FedSubsystem* Publisher::find_subsystem(std::string_view name) const {
  const auto found = subsystems_.find(name);
  return found == subsystems_.end() ? nullptr : found->second.get();
}

Result<FedSubsystem*> Publisher::make_subsystem(std::string_view name) {
  if (FedSubsystem* const found = find_subsystem(name)) return found;
  // `templates` is the list of those.
  if (!is_name(name) || name == "templates") return not_a_name("a subsystem");
  if (things() >= kThingsMax) {
    return Error{ErrorCode::kNoSpace, "too many subsystems and objects"};
  }
  auto made = std::make_unique<FedSubsystem>();
  made->name = name;
  changed_ = true;
  return subsystems_.emplace(name, std::move(made)).first->second.get();
}

FedObject* Publisher::find(std::string_view subsystem, std::string_view name) const {
  const FedSubsystem* const owner = find_subsystem(subsystem);
  if (!owner) return nullptr;
  const auto found = owner->objects.find(name);
  return found == owner->objects.end() ? nullptr : found->second;
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
  // Whoever makes something new in what a user has removed brings it back.
  if (owner.value()->standing == Standing::kGone) owner.value()->standing = Standing::kUnknown;
  if (things() >= kThingsMax) {
    return Error{ErrorCode::kNoSpace, "too many subsystems and objects"};
  }
  auto made = std::make_unique<FedObject>();
  FedObject* const object = made.get();
  object->subsystem = owner.value();
  object->name = name;
  object->flags = flags;
  object->has_handle = holder == Holder::kProgram;
  objects_.emplace(object, std::move(made));
  owner.value()->objects.emplace(name, object);
  changed_ = true;
  return object;
}

void Publisher::remove(FedObject& object) {
  if (!object.subsystem) {
    withdrawn_.erase(&object);
    return;
  }
  if (object.was_asked && object.standing != Standing::kGone &&
      object.standing != Standing::kRefused) {
    withdrawals_.push_back("withdraw " + object.subsystem->name + "/" + object.name);
    changed_ = true;
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
    object->standing = Standing::kGone;
    object->kept.clear();
    point_at_switch(*object);
    withdrawn_.insert(std::move(owned));
  }
  withdrawals_.push_back("withdraw " + found->second->name);
  subsystems_.erase(found);
  changed_ = true;
  return true;
}

Result<void> Publisher::follow_rates(std::string_view subsystem, stats_tpl_sr_cb_t callback,
                                     std::size_t context_bytes, std::string rates) {
  const auto made = make_subsystem(subsystem);
  if (!made) return made.error();
  if (made.value()->callback) return Error{ErrorCode::kExists, "somebody follows these rates"};
  made.value()->callback = callback;
  made.value()->context_bytes = context_bytes;
  made.value()->rates = std::move(rates);
  // Known without a callback, it was made without these.
  made.value()->wants_rates = made.value()->standing == Standing::kKnown;
  changed_ = true;
  return {};
}

void Publisher::refuse_rates(std::string_view subsystem, int error) {
  FedSubsystem* const found = find_subsystem(subsystem);
  if (!found) return;
  found->rates_refusal = error;
  changed_ = true;
}

// ---- blobs

int Publisher::publish(FedObject& object, std::string_view blob, std::uint64_t epoch) {
  switch (object.standing) {
    case Standing::kGone:
      return -ENOENT;
    case Standing::kRefused:
      return -object.refusal;
    case Standing::kUnknown:
    case Standing::kAsked:
      object.kept = blob;
      if (std::exchange(object.is_inherited, false)) changed_ = true;
      return -object.subsystem->refusal;
    case Standing::kKnown:
      break;
  }
  if (switches_.is_void(object.number)) {
    look_for_void();
    return -ENOENT;
  }
  return send(object, blob, epoch);
}

void Publisher::keep(FedObject& object, std::string_view blob) {
  object.kept = blob;
  has_kept_ = true;
  if (std::exchange(object.is_inherited, false)) changed_ = true;
}

bool Publisher::send_kept(std::uint64_t epoch) {
  if (!has_kept_) return true;
  has_kept_ = false;
  for (auto& [key, object] : objects_) {
    if (object->kept.empty() || object->standing != Standing::kKnown) continue;
    if (switches_.is_void(object->number)) continue;
    if (send(*object, std::string(object->kept), epoch) != 0) has_kept_ = true;
  }
  return !has_kept_;
}

int Publisher::send(FedObject& object, std::string_view blob, std::uint64_t epoch) {
  changed_ |= blob::Templates::of_process().changes() != templates_seen_;
  blob_.clear(epoch);
  blob_.blob(object.number, blob);
  switch (link_.send(blob_.bytes())) {
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
  if (object.standing == Standing::kKnown && object.was_sent &&
      (object.flags & STATS_PUBLISH_ALWAYS) == 0) {
    const std::uint32_t* const found = switches_.find(object.number);
    if (found) to = found;
  }
  __atomic_store_n(&object.on, to, __ATOMIC_RELAXED);
}

// ---- asking

void Publisher::inherit() {
  has_kept_ = false;
  for (auto& [key, object] : objects_) {
    object->is_inherited = true;
    object->kept.clear();  // the parent sends it
  }
}

void Publisher::begin() {
  asked_.clear();
  told_.clear();
  withdrawals_.clear();
  templates_seen_ = 0;
  some_refused_ = false;
  refusal_ = 0;
  changed_ = !subsystems_.empty();
  for (auto& [name, subsystem] : subsystems_) {
    subsystem->standing = Standing::kUnknown;
    subsystem->wants_rates = false;
    subsystem->rates_refusal = 0;
  }
  for (auto& [key, object] : objects_) {
    // What a user removed was removed from another daemon.
    object->standing = Standing::kUnknown;
    object->was_asked = object->was_sent = false;
    point_at_switch(*object);
  }
}

std::uint32_t Publisher::note_asked(Asked asked) {
  const std::uint32_t id = next_id_;
  next_id_ = next_id_ + 1 == kIdsEnd ? 1 : next_id_ + 1;
  added_.emplace(id, std::move(asked));
  return Registrar::kOthers | id;
}

bool Publisher::has_room_for(std::size_t bytes) const {
  return added_.empty() || requests_.size() + kRequestBytes + bytes <= kRequestsBytes;
}

bool Publisher::add_request(std::string_view text, Asked asked) {
  if (!has_room_for(text.size())) {
    changed_ = true;
    return false;
  }
  requests_.request(note_asked(std::move(asked)), text);
  return true;
}

// All of the process's, since any may be named in rates. One with very many names is more than a
// datagram can hold; its blobs show no names.
void Publisher::ask_for_templates() {
  const auto& templates = blob::Templates::of_process();
  const std::uint64_t changes = templates.changes();
  if (changes == templates_seen_) return;
  for (std::size_t i = 0; i < templates.size(); ++i) {
    const auto id = static_cast<std::int64_t>(i);
    if (told_.contains(templates.hash(id))) continue;
    const auto told = templates.tell(id);
    wire::Template message{
        .name = told->name,
        .blob = {reinterpret_cast<const char*>(told->blob.data()), told->blob.size()}};
    std::size_t bytes = told->name.size() + told->blob.size();
    for (const std::string& name : told->voi_names) {
      message.voi_names.push_back(name);
      bytes += 4 + name.size();
    }
    told_[told->hash] = Standing::kRefused;
    if (bytes + 64 > wire::kDatagramBytesMax) continue;
    if (!has_room_for(bytes)) {
      told_.erase(told->hash);
      changed_ = true;
      return;
    }
    told_[told->hash] = Standing::kAsked;
    message.sequence = note_asked({.what = Asked::What::kTemplate, .hash = told->hash});
    requests_.define_template(message);
  }
  templates_seen_ = changes;
}

void Publisher::ask_for_subsystem(FedSubsystem& subsystem) {
  const std::string& name = subsystem.name;
  if (subsystem.standing == Standing::kUnknown) {
    // Its objects come next.
    changed_ = true;
    if (add_request("subsystem " + name + " " + subsystem.rates,
                    {.what = Asked::What::kSubsystem, .subsystem = name})) {
      subsystem.standing = Standing::kAsked;
    }
  }
  if (subsystem.standing != Standing::kKnown) {
    changed_ = changed_ || subsystem.standing == Standing::kAsked;
    return;
  }
  if (subsystem.rates_refusal != 0 &&
      add_request("refused " + name + " " + std::to_string(subsystem.rates_refusal),
                  {.what = Asked::What::kRefusal})) {
    subsystem.rates_refusal = 0;
  }
  if (subsystem.wants_rates && subsystem.callback &&
      add_request("rates " + name, {.what = Asked::What::kRates, .subsystem = name})) {
    subsystem.wants_rates = false;
  }
  for (const auto& [each, object] : subsystem.objects) {
    if (object->standing != Standing::kUnknown || object->is_inherited) continue;
    const char* const lifetime = object->flags & STATS_LIFETIME_FEEDER ? " lifetime=feeder" : "";
    if (add_request("object " + name + "/" + each + lifetime,
                    {.what = Asked::What::kObject, .subsystem = name, .object = each})) {
      object->standing = Standing::kAsked;
      object->was_asked = true;
    }
  }
}

void Publisher::ask(std::uint64_t epoch, Time now) {
  if (!asked_.empty()) {
    if (now - asked_at_ < kAnswerWait) return;
    give_up_asking();
  }
  if (some_refused_ && now >= retry_refused_at_) {
    some_refused_ = false;
    changed_ = true;
    for (auto& [name, each] : subsystems_) {
      if (each->standing == Standing::kRefused) each->standing = Standing::kUnknown;
    }
    for (auto& [key, each] : objects_) {
      if (each->standing == Standing::kRefused) each->standing = Standing::kUnknown;
    }
  }
  if (!changed_) return;
  changed_ = false;
  requests_.clear(epoch);
  added_.clear();
  ask_for_templates();
  for (const std::string& line : withdrawals_) {
    if (!add_request(line, {.what = Asked::What::kWithdrawal})) break;
  }
  const auto withdrawn = std::ranges::count_if(
      added_, [](const auto& each) { return each.second.what == Asked::What::kWithdrawal; });
  for (auto& [name, subsystem] : subsystems_) ask_for_subsystem(*subsystem);
  if (added_.empty()) return;
  asked_ = std::exchange(added_, {});
  asked_at_ = now;
  if (link_.send(requests_.bytes()) != Link::Sent::kDone) return give_up_asking();
  withdrawals_.erase(withdrawals_.begin(), withdrawals_.begin() + withdrawn);
}

// Whatever was asked for and not answered is asked for again.
void Publisher::give_up_asking() {
  asked_.clear();
  changed_ = true;
  templates_seen_ = 0;
  std::erase_if(told_, [](const auto& each) { return each.second == Standing::kAsked; });
  for (auto& [name, each] : subsystems_) {
    if (each->standing == Standing::kAsked) each->standing = Standing::kUnknown;
    each->wants_rates = each->standing == Standing::kKnown;
  }
  for (auto& [key, each] : objects_) {
    if (each->standing == Standing::kAsked) each->standing = Standing::kUnknown;
  }
}

}  // namespace tallyfs
