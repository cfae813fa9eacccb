// Processes the daemon's responses to a Publisher, and its page of switches.
#include <cerrno>
#include <utility>

#include "core/stats3/blob/templates.h"
#include "feeders/client/publisher.h"

namespace tallyfs {
namespace {

constexpr Publisher::Time kLookPause = std::chrono::seconds(1);

std::string path_of(const FedObject& object) {
  return "stats/" + object.subsystem->name + "/" + object.name;
}

}  // namespace

void Publisher::take_template(std::uint32_t hash, const Response& response) {
  templates_[hash] = response.error == 0 ? Registration::kRegistered : Registration::kRefused;
  if (response.error == 0) return;
  conversation_.report("the daemon refused a template: " + refusal_text(response));
}

void Publisher::take_withdrawal(const Response& response) {
  // ENOENT is a success: the object does not exist any more.
  if (response.error == 0 || response.error == ENOENT) return;
  conversation_.report("the daemon refused a removal: " + refusal_text(response));
}

void Publisher::take_subsystem(FedSubsystem& subsystem, const Response& response) {
  subsystem.refusal = response.refusal();
  if (response.error != 0) {
    subsystem.registration = Registration::kRefused;
    if (refusal_ == 0) refusal_ = response.refusal();
    return report_refusal("stats/" + subsystem.name, response);
  }
  subsystem.registration = Registration::kRegistered;
  subsystem.number = response.number;
  subsystem.changes_seen = 0;
  // In one that was there the rates are as its users want them.
  subsystem.wants_rates = response.made == wire::Made::kWasThere;
  note_change();
}

void Publisher::take_rates(FedSubsystem& subsystem, const Response& response) {
  if (response.error != 0) return;
  subsystem.changes_seen = static_cast<std::uint32_t>(response.number);
  if (!response.text || !subsystem.callback) return;
  subsystem.rates = *response.text;
  new_rates_.push_back(
      {subsystem.name, subsystem.callback, subsystem.context_bytes, subsystem.rates});
}

void Publisher::take_object(FedObject& object, const Response& response) {
  if (response.error != 0) return refuse_object(object, response);
  object.registration = Registration::kRegistered;
  object.refusal = 0;
  object.number = response.number;
  if (!object.kept.empty() && send(object, std::string(object.kept)) != 0) {
    // There was no room: it is requested, and answered, once more.
    object.registration = Registration::kUnregistered;
    note_change();
  }
  point_at_switch(object);
}

// That another process publishes it is reported once, and no fault of this program's configuration:
// a child of fork() has its parent's objects.
void Publisher::refuse_object(FedObject& object, const Response& response) {
  object.registration = Registration::kRefused;
  const bool is_news = std::exchange(object.refusal, response.refusal()) != EEXIST;
  const bool is_anothers = response.error == EEXIST;
  if (!is_anothers && refusal_ == 0) refusal_ = response.refusal();
  if (is_anothers && !is_news) return back_off();
  report_refusal(path_of(object), response);
}

// ---- what the daemon no longer knows

// Without a page a feeder learns so that a user has removed an object.
void Publisher::take_stale(std::uint64_t number) {
  for (auto& [key, object] : objects_) {
    if (object->registration == Registration::kRegistered && object->number == number) {
      note_gone(*object);
      point_at_switch(*object);
    }
  }
}

// ---- the page

void Publisher::look(Time now) {
  for (auto& [name, subsystem] : subsystems_) {
    if (subsystem->registration != Registration::kRegistered || !subsystem->callback) continue;
    const std::uint32_t* const changes = switches_.find(subsystem->number);
    if (!changes || switches_.is_void(subsystem->number)) continue;
    if (__atomic_load_n(changes, __ATOMIC_ACQUIRE) == subsystem->changes_seen) continue;
    subsystem->wants_rates = true;
    note_change();
  }
  if (now - looked_at_ < kLookPause) return;
  looked_at_ = now;
  look_for_void();
  if (subsystems_.empty()) return;
  if (stats3::blob::Templates::of_process().changes() != templates_seen_) note_change();
  for (auto& [key, object] : objects_) point_at_switch(*object);
}

// A thing that a user has removed stays removed until the program makes it again. A thing that a
// killed daemon had not saved is requested again, with the templates that it may not have saved
// either.
template <typename Thing>
void Publisher::note_gone(Thing& thing) {
  thing.registration = Registration::kRemoved;
  if (!switches_.is_lost(thing.number)) return;
  thing.registration = Registration::kUnregistered;
  forget_templates();
  note_change();
}

void Publisher::look_for_void() {
  for (auto& [name, subsystem] : subsystems_) {
    if (subsystem->registration == Registration::kRegistered &&
        switches_.is_void(subsystem->number)) {
      note_gone(*subsystem);
    }
  }
  for (auto& [key, object] : objects_) {
    if (object->registration != Registration::kRegistered || !switches_.is_void(object->number))
      continue;
    note_gone(*object);
    point_at_switch(*object);
  }
}

}  // namespace tallyfs
