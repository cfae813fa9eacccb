// What the daemon answers a Publisher, and what its page of switches says.
#include <cerrno>
#include <utility>

#include "core/blob/templates.h"
#include "feeders/client/publisher.h"
#include "feeders/client/request.h"

namespace tallyfs {
namespace {

constexpr Publisher::Time kLookPause = std::chrono::seconds(1);

std::string path_of(const FedObject& object) {
  return "stats/" + object.subsystem->name + "/" + object.name;
}

}  // namespace

void Publisher::take(std::uint32_t id, const wire::Answer& answer, std::uint64_t epoch, Time now) {
  if (id == 0) return take_stale(answer.number);
  const auto found = asked_.find(id);
  if (found == asked_.end()) return;
  const Asked asked = std::move(found->second);
  asked_.erase(found);
  FedSubsystem* const subsystem = find_subsystem(asked.subsystem);
  FedObject* const object = asked.object.empty() ? nullptr : find(asked.subsystem, asked.object);
  switch (asked.what) {
    case Asked::What::kTemplate:
      told_[asked.hash] = answer.error == 0 ? Standing::kKnown : Standing::kRefused;
      if (answer.error != 0) report_("the daemon refused a template: " + words_for(answer));
      return;
    case Asked::What::kRefusal:
      // An older daemon does not know of such.
      return;
    case Asked::What::kWithdrawal:
      // What is gone already was to be removed.
      if (answer.error != 0 && answer.error != ENOENT) {
        report_("the daemon refused to remove something: " + words_for(answer));
      }
      return;
    case Asked::What::kSubsystem:
      // Another of that name may have come in its place.
      if (!subsystem || subsystem->standing != Standing::kAsked) return;
      if (answer.error == 0) return take_subsystem(*subsystem, answer);
      subsystem->standing = Standing::kRefused;
      subsystem->refusal = static_cast<int>(answer.error);
      return refused("stats/" + subsystem->name, answer, now);
    case Asked::What::kObject:
      if (!object || object->standing != Standing::kAsked) return;
      if (answer.error == 0) return take_object(*object, answer, epoch);
      object->standing = Standing::kRefused;
      return refuse_object(*object, answer, now);
    case Asked::What::kRates:
      if (subsystem && answer.error == 0) take_rates(*subsystem, answer);
      return;
  }
}

void Publisher::take_subsystem(FedSubsystem& subsystem, const wire::Answer& answer) {
  subsystem.standing = Standing::kKnown;
  subsystem.refusal = 0;
  subsystem.number = answer.number;
  subsystem.changes_seen = 0;
  // In one that was there the rates are as its users want them.
  subsystem.wants_rates = answer.made == wire::Made::kWasThere;
  changed_ = true;
}

void Publisher::take_object(FedObject& object, const wire::Answer& answer, std::uint64_t epoch) {
  object.standing = Standing::kKnown;
  object.refusal = 0;
  object.number = answer.number;
  if (!object.kept.empty() && send(object, std::string(object.kept), epoch) != 0) {
    // There was no room: it is asked for, and answered, once more.
    object.standing = Standing::kUnknown;
    changed_ = true;
  }
  point_at_switch(object);
}

// That another process publishes it is said once, and no fault of this program's configuration: a
// child of fork() has its parent's objects.
void Publisher::refuse_object(FedObject& object, const wire::Answer& answer, Time now) {
  const bool is_news = std::exchange(object.refusal, static_cast<int>(answer.error)) != EEXIST;
  if (answer.error != EEXIST) return refused(path_of(object), answer, now);
  some_refused_ = true;
  retry_refused_at_ = now + kRefusedPause;
  if (is_news) report_("the daemon refused " + path_of(object) + ": " + words_for(answer));
}

void Publisher::take_rates(FedSubsystem& subsystem, const wire::Answer& answer) {
  subsystem.changes_seen = static_cast<std::uint32_t>(answer.number);
  if (!answer.text || !subsystem.callback) return;
  subsystem.rates = *answer.text;
  news_.push_back({subsystem.name, subsystem.callback, subsystem.context_bytes, subsystem.rates});
}

// Without a page this is how a feeder learns that a user has removed an object.
void Publisher::take_stale(std::uint64_t number) {
  for (auto& [key, object] : objects_) {
    if (object->standing == Standing::kKnown && object->number == number) {
      object->standing = Standing::kGone;
      point_at_switch(*object);
    }
  }
}

void Publisher::refused(const std::string& what, const wire::Answer& answer, Time now) {
  some_refused_ = true;
  retry_refused_at_ = now + kRefusedPause;
  refusal_ = refusal_ == 0 ? static_cast<int>(answer.error) : refusal_;
  report_("the daemon refused " + what + ": " + words_for(answer));
}

// ---- the page

void Publisher::look(Time now) {
  for (auto& [name, subsystem] : subsystems_) {
    if (subsystem->standing != Standing::kKnown || !subsystem->callback) continue;
    const std::uint32_t* const changes = switches_.find(subsystem->number);
    if (!changes || switches_.is_void(subsystem->number)) continue;
    if (__atomic_load_n(changes, __ATOMIC_ACQUIRE) == subsystem->changes_seen) continue;
    subsystem->wants_rates = changed_ = true;
  }
  if (now - looked_at_ < kLookPause) return;
  looked_at_ = now;
  look_for_void();
  if (subsystems_.empty()) return;
  changed_ |= blob::Templates::of_process().changes() != templates_seen_;
  for (auto& [key, object] : objects_) point_at_switch(*object);
}

// What a user has removed stays so, until the program makes it anew.
void Publisher::look_for_void() {
  for (auto& [name, subsystem] : subsystems_) {
    if (subsystem->standing == Standing::kKnown && switches_.is_void(subsystem->number)) {
      subsystem->standing = Standing::kGone;
    }
  }
  for (auto& [key, object] : objects_) {
    if (object->standing != Standing::kKnown || !switches_.is_void(object->number)) continue;
    object->standing = Standing::kGone;
    point_at_switch(*object);
  }
}

}  // namespace tallyfs
