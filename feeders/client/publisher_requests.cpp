// Makes the requests of a Publisher.
#include <utility>

#include "core/stats3/blob/templates.h"
#include "feeders/client/publisher.h"

namespace tallyfs {

void Publisher::begin() {
  forget_templates();
  refusal_ = 0;
  for (auto& [name, subsystem] : subsystems_) {
    subsystem->registration = Registration::kUnregistered;
    subsystem->wants_rates = false;
    subsystem->rates_refusal = 0;
  }
  for (auto& [key, object] : objects_) {
    // A removal by a user was at another daemon.
    object->registration = Registration::kUnregistered;
    object->was_requested = object->was_sent = false;
    point_at_switch(*object);
  }
}

void Publisher::retry_refused() {
  const auto retry = [](auto& each) {
    if (each.registration == Registration::kRefused) {
      each.registration = Registration::kUnregistered;
    }
  };
  for (auto& [name, each] : subsystems_) retry(*each);
  for (auto& [key, each] : objects_) retry(*each);
}

void Publisher::add_requests(RequestDatagram& requests) {
  // A process that publishes nothing keeps its templates to itself.
  if (!subsystems_.empty()) add_templates(requests);
  add_withdrawals(requests);
  for (auto& [name, subsystem] : subsystems_) {
    if (!requests.is_full()) add_subsystem(requests, *subsystem);
  }
}

// ---- templates

// All of the process's, since any may be named in rates.
void Publisher::add_templates(RequestDatagram& requests) {
  const auto& templates = stats3::blob::Templates::of_process();
  const std::uint64_t changes = templates.changes();
  if (changes == templates_seen_) return;
  bool is_complete = true;
  for (std::size_t i = 0; i < templates.size() && !requests.is_full(); ++i) {
    const auto id = static_cast<std::int64_t>(i);
    if (templates_.contains(templates.hash(id))) continue;
    is_complete = false;
    add_template(requests, id);
  }
  if (is_complete) {
    templates_seen_ = changes;
  } else {
    note_change();
  }
}

// One with very many names is more than a datagram can hold; its blobs show no names.
void Publisher::add_template(RequestDatagram& requests, std::int64_t id) {
  constexpr std::size_t kOverheadBytes = 64;
  const auto told = stats3::blob::Templates::of_process().tell(id);
  const std::uint32_t hash = told->hash;
  wire::Template message{
      .name = told->name,
      .blob = {reinterpret_cast<const char*>(told->blob.data()), told->blob.size()}};
  std::size_t bytes = told->name.size() + told->blob.size() + kOverheadBytes;
  for (const std::string& name : told->voi_names) {
    message.voi_names.push_back(name);
    bytes += 4 + name.size();
  }
  if (bytes > wire::kDatagramBytesMax) {
    templates_[hash] = Registration::kRefused;
    return;
  }
  requests.add_template(
      std::move(message),
      {.sent = [this, hash] { templates_[hash] = Registration::kRequested; },
       .responded = [this, hash](const Response& response) { take_template(hash, response); },
       .timed_out =
           [this, hash] {
             const auto found = templates_.find(hash);
             if (found == templates_.end() || found->second != Registration::kRequested) return;
             templates_.erase(found);
             templates_seen_ = 0;
           }});
}

// ---- withdrawals

void Publisher::add_withdrawals(RequestDatagram& requests) {
  for (const std::string& line : withdrawals_) {
    const bool added = requests.add(
        line, {.sent = [this] { withdrawals_.pop_front(); },
               .responded = [this](const Response& response) { take_withdrawal(response); }});
    if (!added) return;
  }
}

// ---- subsystems

void Publisher::add_subsystem(RequestDatagram& requests, FedSubsystem& subsystem) {
  if (subsystem.registration == Registration::kUnregistered) {
    note_change();  // its objects come next
    requests.add("subsystem " + subsystem.name + " " + subsystem.rates,
                 {.sent = [&subsystem] { subsystem.registration = Registration::kRequested; },
                  .responded =
                      [this, name = subsystem.name, id = subsystem.id](const Response& response) {
                        if (auto* const found = find_subsystem(name, id))
                          take_subsystem(*found, response);
                      },
                  .timed_out =
                      [this, name = subsystem.name, id = subsystem.id] {
                        auto* const found = find_subsystem(name, id);
                        if (found && found->registration == Registration::kRequested) {
                          found->registration = Registration::kUnregistered;
                        }
                      }});
  }
  if (subsystem.registration != Registration::kRegistered) return;
  if (subsystem.rates_refusal != 0) add_rates_refusal(requests, subsystem);
  if (subsystem.wants_rates && subsystem.callback) add_rates(requests, subsystem);
  for (const auto& [name, object] : subsystem.objects) {
    if (object->registration != Registration::kUnregistered || object->is_inherited) continue;
    if (!requests.is_full()) add_object(requests, *object);
  }
}

// An older daemon does not know of such: its response says nothing.
void Publisher::add_rates_refusal(RequestDatagram& requests, FedSubsystem& subsystem) {
  requests.add("refused " + subsystem.name + " " + std::to_string(subsystem.rates_refusal),
               {.sent = [&subsystem] { subsystem.rates_refusal = 0; }});
}

void Publisher::add_rates(RequestDatagram& requests, FedSubsystem& subsystem) {
  requests.add("rates " + subsystem.name,
               {.sent = [&subsystem] { subsystem.wants_rates = false; },
                .responded =
                    [this, name = subsystem.name, id = subsystem.id](const Response& response) {
                      if (auto* const found = find_subsystem(name, id)) {
                        take_rates(*found, response);
                      }
                    },
                .timed_out =
                    [this, name = subsystem.name, id = subsystem.id] {
                      if (auto* const found = find_subsystem(name, id)) found->wants_rates = true;
                    }});
}

// ---- objects

void Publisher::add_object(RequestDatagram& requests, FedObject& object) {
  const std::string& subsystem = object.subsystem->name;
  const char* const lifetime = object.flags & STATS_LIFETIME_FEEDER ? " lifetime=feeder" : "";
  requests.add(
      "object " + subsystem + "/" + object.name + lifetime,
      {.sent =
           [&object] {
             object.registration = Registration::kRequested;
             object.was_requested = true;
           },
       .responded =
           [this, subsystem, name = object.name, id = object.id](const Response& response) {
             if (auto* const found = find_object(subsystem, name, id)) {
               take_object(*found, response);
             }
           },
       .timed_out =
           [this, subsystem, name = object.name, id = object.id] {
             auto* const found = find_object(subsystem, name, id);
             if (found && found->registration == Registration::kRequested) {
               found->registration = Registration::kUnregistered;
             }
           }});
}

}  // namespace tallyfs
