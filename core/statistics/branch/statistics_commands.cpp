// What lines on the socket, and rmdir, do to statistics and interfaces (core/wire/FORMAT.md).
#include <utility>

#include "core/base/text.h"
#include "core/statistics/branch/statistics_branch.h"

namespace tallyfs {
namespace {

Error not_found(std::string_view what, std::size_t at) {
  return {ErrorCode::kNotFound, "no such " + std::string(what), at};
}

// Where in the line what follows the target begins.
std::size_t rest_at(const wire::CommandLine& command) {
  const auto word = Tokens(command.rest.text).next();
  return command.rest.at + (word ? word->at : 0);
}

// Marks what a feeder says of how a statistic begins.
bool has_default(std::string_view text) {
  Tokens tokens(text);
  while (const auto token = tokens.next()) {
    if (token->text == "default=1") return true;
  }
  return false;
}

Error own_interface(std::size_t at) {
  return {ErrorCode::kBusy, "this interface holds the daemon's own numbers", at};
}

}  // namespace

Result<Done> StatisticsBranch::execute(const wire::CommandLine& command, const Sender& sender,
                                       Moment now) {
  const auto plain = [](const Result<void>& done) {
    return done ? Result<Done>(Done{}) : Result<Done>(done.error());
  };
  if (command.verb == wire::Verb::kCreate) return create_lasting(command, sender, now);
  const MutexLock lock(mutex_);
  switch (command.verb) {
    case wire::Verb::kCreate:
      break;
    case wire::Verb::kDefine:
      return plain(define(command, sender.uid, now));
    case wire::Verb::kRemove:
      return plain(remove(command, sender.uid, now));
    case wire::Verb::kAttach:
      return attach(command);
  }
  return Error{ErrorCode::kInvalid, "unknown command"};
}

Result<Lifetime> StatisticsBranch::lifetime_of(const wire::CommandLine& command) {
  if (wire::split_path(command.target.text).has_statistic) return Lifetime::kForGood;
  const auto lifetime = parse_lifetime(command.rest.text, "an interface");
  if (!lifetime) return error_at(lifetime.error(), command.rest.at);
  return lifetime;
}

Result<Done> StatisticsBranch::create_lasting(const wire::CommandLine& command,
                                              const Sender& sender, Moment now) {
  const auto lifetime = lifetime_of(command);
  if (!lifetime) return lifetime.error();
  const auto change = [&] {
    const MutexLock lock(mutex_);
    return create(command, lifetime.value(), sender, now);
  };
  if (lifetime.value() == Lifetime::kForGood) return change();
  if (const auto watched = processes_.watch(sender); !watched) {
    return error_at(watched.error(), rest_at(command));
  }
  return processes_.change_while_watched(sender.pid, change,
                                         [&] { process_ended(sender.pid, now); });
}

Result<Done> StatisticsBranch::create(const wire::CommandLine& command, Lifetime lifetime,
                                      const Sender& sender, Moment now) {
  if (!wire::split_path(command.target.text).has_statistic) {
    return create_interface(command, lifetime, sender, now);
  }
  if (Interface::is_of_a_view(command.rest.text)) return create_view(command, sender.uid, now);
  if (StatisticEntry* const entry = find(command.target.text)) {
    warn_of_units(command, *entry, sender, now);
    return Done{publish(*entry), wire::Made::kWasThere};
  }
  const auto made = create_statistic(command.target.text, command.rest.text, sender.uid, now);
  if (made) return Done{publish(*made.value())};
  const bool in_rest = made.error().token_at >= command.target.text.size() &&
                       made.error().token_at != Error::kNoToken;
  const std::size_t start =
      in_rest ? command.rest.at - command.target.text.size() : command.target.at;
  return error_at(made.error(), start);
}

// What a line says of a statistic that is there is left to its definition, but for units, which
// nothing else can say: those of the line that made it stay.
void StatisticsBranch::warn_of_units(const wire::CommandLine& command, const StatisticEntry& entry,
                                     const Sender& sender, Moment now) const {
  if (!errors_) return;
  Tokens tokens(command.rest.text);
  while (const auto token = tokens.next()) {
    if (!token->text.starts_with("units=")) continue;
    std::string line = "name=" + std::string(entry.statistic->name());
    auto ignored = entry.owner->interface->remark(line.append(" ").append(token->text));
    if (!ignored) return;
    std::string text = "create " + std::string(command.target.text);
    const std::size_t from = text.size() + 1;
    text.append(" ").append(trimmed(command.rest.text));
    ignored->token_at = from + token->at - (rest_at(command) - command.rest.at);
    errors_->warn(ErrorLog::Source::kSocket,
                  "socket pid " + std::to_string(sender.pid) + " uid " + std::to_string(sender.uid),
                  text, *ignored, now);
    return;
  }
}

// A view has no number: it takes no samples.
Result<Done> StatisticsBranch::create_view(const wire::CommandLine& command, uid_t sender,
                                           Moment now) {
  const auto [interface, view, has_statistic] = wire::split_path(command.target.text);
  const InterfaceEntry* const entry = find_interface(interface);
  if (!entry) return not_found("interface", command.target.at);
  if (auto allowed = may_change(*entry, sender); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  if (interface == kOwnName) return own_interface(command.target.at);
  const auto made = entry->interface->create_view(view, command.rest.text, now);
  if (!made) return error_at(made.error(), command.rest.at);
  return Done{.made = made.value() ? wire::Made::kNew : wire::Made::kWasThere};
}

Result<Done> StatisticsBranch::create_interface(const wire::CommandLine& command, Lifetime lifetime,
                                                const Sender& sender, Moment now) {
  InterfaceEntry* entry = find_interface(command.target.text);
  const wire::Made made = entry ? wire::Made::kWasThere : wire::Made::kNew;
  if (!entry) {
    const auto created = create_interface(command.target.text, sender.uid, now);
    if (!created) return error_at(created.error(), command.target.at);
    entry = find_interface(command.target.text);
  } else if (lifetime == Lifetime::kForGood || entry->feeders.empty()) {
    return Done{.made = made};  // as it was made, so it stays
  } else if (auto allowed = may_change(*entry, sender.uid); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  if (lifetime == Lifetime::kForGood) return Done{.made = made};
  if (const auto added = entry->feeders.add(ledger_, entry->interface->uid(), sender.pid); !added) {
    if (made == wire::Made::kNew) forget(*entry, now);
    return error_at(added.error(), rest_at(command));
  }
  return Done{.made = made};
}

Result<void> StatisticsBranch::define(const wire::CommandLine& command, uid_t sender, Moment now) {
  const InterfaceEntry* const entry = find_interface(command.target.text);
  if (!entry) return not_found("interface", command.target.at);
  if (auto allowed = may_change(*entry, sender); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  const auto done = has_default(command.rest.text)
                        ? define_default(*entry, command.rest.text, now)
                        : entry->interface->define(command.rest.text, now);
  if (!done) return error_at(done.error(), command.rest.at);
  return {};
}

// Rules are for statistics that are no views.
Result<void> StatisticsBranch::define_default(const InterfaceEntry& entry, std::string_view text,
                                              Moment now) {
  const auto change = parse_change(text);
  std::vector<std::string> rules;
  if (change && change.value().name) {
    const std::string_view name = change.value().name->value;
    std::string path(entry.name);
    path.append("/").append(name);
    if (find(path)) rules = lines_of_rules(path, name);
  }
  return entry.interface->define_default(text, rules, now);
}

Result<void> StatisticsBranch::remove(const wire::CommandLine& command, uid_t sender, Moment now) {
  const auto [interface, statistic, has_statistic] = wire::split_path(command.target.text);
  InterfaceEntry* const entry = find_interface(interface);
  if (!entry) return not_found("interface", command.target.at);
  if (auto allowed = may_change(*entry, sender); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  if (interface == kOwnName) return own_interface(command.target.at);
  if (!has_statistic) {
    forget(*entry, now);
    return {};
  }
  // A view has no entry.
  if (StatisticEntry* const gone = find(command.target.text)) forget(*gone);
  if (!entry->interface->remove_statistic(statistic, now)) {
    return not_found("statistic", command.target.at + interface.size() + 1);
  }
  return {};
}

Result<Done> StatisticsBranch::attach(const wire::CommandLine& command) {
  if (StatisticEntry* const entry = find(command.target.text)) return Done{publish(*entry)};
  const auto [interface, statistic, has_statistic] = wire::split_path(command.target.text);
  const InterfaceEntry* const owner = find_interface(interface);
  if (owner && owner->interface->find(statistic)) {
    return Error{ErrorCode::kExists, "this is a view, which takes no samples of its own",
                 command.target.at};
  }
  return not_found("statistic", command.target.at);
}

Result<void> StatisticsBranch::may_change(const InterfaceEntry& entry, uid_t sender) const {
  return ownership_.check(entry.interface->uid(), sender,
                          {.thing = "interface", .change = "change what is in it"});
}

Result<StatisticsBranch::StatisticEntry*> StatisticsBranch::create_statistic(std::string_view path,
                                                                             std::string_view text,
                                                                             uid_t creator,
                                                                             Moment now) {
  const auto [interface, statistic, has_statistic] = wire::split_path(path);
  if (interface == kOwnName) return own_interface(0);
  if (!is_name(statistic)) {
    return Error{ErrorCode::kInvalid, "not a statistic's name (1 to 255 printable bytes, no '=')",
                 interface.size() + 1};
  }
  InterfaceEntry* entry = find_interface(interface);
  const bool is_new = !entry;
  if (!is_new) {
    if (auto allowed = may_change(*entry, creator); !allowed) return allowed.error();
  } else {
    if (auto made = create_interface(interface, creator, now); !made) return made.error();
    entry = find_interface(interface);
  }
  const auto made = entry->interface->create_statistic(statistic, text, now);
  if (made) {
    StatisticEntry& entered = enter(*entry, made.value());
    apply_rules(entered, now, Interface::By::kRule);
    return &entered;
  }
  if (is_new) forget(*entry, now);
  return error_at(made.error(), path.size());
}

Result<void> StatisticsBranch::remove_interface(std::string_view name, Moment now) {
  if (name == kOwnName) return own_interface(0);
  const MutexLock lock(mutex_);
  InterfaceEntry* const entry = find_interface(name);
  if (!entry) return not_found("interface", 0);
  forget(*entry, now);
  return {};
}

}  // namespace tallyfs
