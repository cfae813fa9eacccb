// What lines on the socket, and rmdir, do to statistics and interfaces (core/wire/FORMAT.md).
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/base/steps.h"
#include "core/base/text.h"
#include "core/statistics/branch/command_text.h"
#include "core/statistics/branch/definition_line.h"
#include "core/statistics/branch/statistics_branch.h"

namespace tallyfs::statistics {
namespace {

Error not_found(std::string_view what, std::size_t at) {
  return {ErrorCode::kNotFound, "no such " + std::string(what), at};
}

Strictness strictness_of(const wire::CommandLine& command) {
  return command.door == wire::Door::kPerson ? Strictness::kStrict : Strictness::kTolerant;
}

Error no_interface_to_define(const wire::CommandLine& command) {
  if (!wire::split_path(command.target.text).has_statistic) {
    return not_found("interface", command.target.at);
  }
  return {ErrorCode::kNotFound,
          "no such interface; it comes into being with: create " + shown(command.target.text),
          command.target.at};
}

// What the line that made or found a statistic has for nothing; the token counts in its text.
std::optional<Error> remark(const wire::CommandLine& command, std::string_view statistic,
                            const Interface& interface) {
  const std::string name = std::string("name=").append(statistic);
  auto fault = interface.remark(name + std::string(command.rest.text));
  if (fault) fault->token_at -= std::min(name.size(), fault->token_at);
  return fault;
}

}  // namespace

// The group is looked up for what would be refused, without the lock.
Result<Done> StatisticsBranch::execute(const wire::CommandLine& typed, const Sender& sender,
                                       Timestamp now, const LineStep& step) {
  const auto target = stored_target(typed);
  if (!target) return target.error();
  wire::CommandLine command = typed;
  command.target.text = target.value();
  auto done = carry_out(command, sender, now, step);
  const bool is_refused = !done && done.error().code == ErrorCode::kNotPermitted;
  if (!is_refused || command.verb == wire::Verb::kAttach) return done;
  if (!is_writer_ || !is_writer_(sender)) return done;
  Sender writer = sender;
  writer.rights = ownership_.daemon();
  return carry_out(command, writer, now, step);
}

Result<Done> StatisticsBranch::carry_out(const wire::CommandLine& command, const Sender& sender,
                                         Timestamp now, const LineStep& step) {
  if (command.verb == wire::Verb::kCreate) return create_lasting(command, sender, now);
  const MutexLock lock(mutex_);
  switch (command.verb) {
    case wire::Verb::kCreate:
      break;
    case wire::Verb::kDefine:
      return define(command, sender, now, step);
    case wire::Verb::kRemove:
      return remove(command, sender.rights, now, step.is_late);
    case wire::Verb::kAttach:
      return attach(command, sender.rights);
  }
  return Error{ErrorCode::kInvalid, "unknown command"};
}

Result<Done> StatisticsBranch::create_lasting(const wire::CommandLine& command,
                                              const Sender& sender, Timestamp now) {
  const auto asked = asked_interface(command);
  if (!asked) return asked.error();
  const auto change = [&] {
    const MutexLock lock(mutex_);
    return create(command, asked.value(), sender, now);
  };
  if (asked.value().lifetime == Lifetime::kForGood) return change();
  if (const auto watched = processes_.watch(sender); !watched) {
    return error_at(watched.error(), rest_at(command));
  }
  return processes_.change_while_watched(sender.pid, change,
                                         [&] { process_ended(sender.pid, now, always_late); });
}

Result<Done> StatisticsBranch::create(const wire::CommandLine& command, const AskedInterface& asked,
                                      const Sender& sender, Timestamp now) {
  if (!wire::split_path(command.target.text).has_statistic) {
    return create_interface(command, asked, sender, now);
  }
  const std::string_view statistic = wire::split_path(command.target.text).statistic;
  if (command.door == wire::Door::kPerson) {
    const auto own = own_line(command);
    if (!own) return own.error();
    if (auto named = check_name(command, own.value(), statistic); !named) return named.error();
  }
  if (Interface::is_of_a_view(command.rest.text)) return create_view(command, sender, now);
  if (StatisticEntry* const entry = find(command.target.text)) {
    if (!is_fed_by(*entry->owner, sender.rights)) {
      return error_at(not_fed_by_all(*entry->owner, sender.rights), command.target.at);
    }
    return leave(command, *entry->owner, named(*entry, wire::Made::kWasThere), sender, now);
  }
  const auto made = create_statistic(command.target.text, command.rest.text, sender.rights, now,
                                     strictness_of(command));
  if (made) {
    note_changed(made.value()->owner->name, statistic);
    return with_warning(named(*made.value(), wire::Made::kNew), command, sender,
                        Interface::remark_on_new(command.rest.text, strictness_of(command)),
                        now);
  }
  const bool in_rest = made.error().token_at >= command.target.text.size() &&
                       made.error().token_at != Error::kNoToken;
  const std::size_t start =
      in_rest ? command.rest.at - command.target.text.size() : command.target.at;
  return error_at(made.error(), start);
}

Done StatisticsBranch::named(StatisticEntry& entry, wire::Made made) {
  return {.number = publish(entry),
          .made = made,
          .decimals = static_cast<std::uint8_t>(entry.statistic->decimals())};
}

// Another user's feeder does not decide about the samples of this one's.
Result<void> StatisticsBranch::agree_on_units(const wire::CommandLine& command,
                                              const InterfaceEntry& owner,
                                              const Sender& sender) const {
  const std::string_view name = wire::split_path(command.target.text).statistic;
  if (auto refusal = owner.interface->refuse_sample_units(name, command.rest.text)) {
    refusal->reason += ": remove it with tallyctl rm, or take another name";
    return error_at(*refusal, command.rest.at);
  }
  if (!may_change(owner, sender.rights)) return {};
  return owner.interface->note_sample_units(name, command.rest.text);
}

// What a line says of a statistic that is there is left to its definition.
Result<Done> StatisticsBranch::leave(const wire::CommandLine& command, const InterfaceEntry& owner,
                                     Done done, const Sender& sender, Timestamp now) {
  const std::string_view name = wire::split_path(command.target.text).statistic;
  if (auto agreed = agree_on_units(command, owner, sender); !agreed) return agreed.error();
  const auto differs = owner.interface->difference(name, command.rest.text, strictness_of(command));
  std::optional<Error> fault;
  if (!differs) {
    if (command.door == wire::Door::kPerson) return error_at(differs.error(), command.rest.at);
    fault = differs.error();
  } else if (!differs.value().empty() && !is_ruled(command)) {
    fault = invalid("it exists with " + differs.value() + " and stays so; to change it: define " +
                    shown(command.target.text) + shown(settable_words(command.rest.text)));
  }
  return with_warning(std::move(done), command, sender, std::move(fault), now);
}

// A program need not know what rules say.
bool StatisticsBranch::is_ruled(const wire::CommandLine& command) {
  const std::string_view name = wire::split_path(command.target.text).statistic;
  return command.door == wire::Door::kProgram &&
         !lines_of_rules(std::string(command.target.text), name).empty();
}

// The fault's token counts in what follows the target.
Done StatisticsBranch::with_warning(Done done, const wire::CommandLine& command,
                                    const Sender& sender, std::optional<Error> fault,
                                    Timestamp now) const {
  if (!fault) return done;
  done.warning = fault->reason;
  if (!errors_) return done;
  std::string text(command.verb == wire::Verb::kCreate ? "create " : "define ");
  text.append(command.target.text);
  const std::size_t blanks = rest_at(command) - command.rest.at;
  if (fault->token_at != Error::kNoToken) fault->token_at += text.size() + 1 - blanks;
  text.append(" ").append(trimmed(command.rest.text));
  errors_->warn({ErrorLog::Source::kSocket, sender.uid},
                "socket pid " + std::to_string(shown_pid(sender.pid)) + " uid " +
                    std::to_string(sender.uid),
                text, *fault, now);
  return done;
}

// A view has no number: it takes no samples.
Result<Done> StatisticsBranch::create_view(const wire::CommandLine& command, const Sender& sender,
                                           Timestamp now) {
  const auto [interface, view, has_statistic] = wire::split_path(command.target.text);
  const InterfaceEntry* const entry = find_interface(interface);
  if (!entry) return not_found("interface", command.target.at);
  if (auto allowed = may_change(*entry, sender.rights); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  if (interface == kOwnName) return own_interface(command.target.at);
  const auto made =
      entry->interface->create_view(view, command.rest.text, now, strictness_of(command));
  if (!made) return error_at(made.error(), command.rest.at);
  if (!made.value()) return leave(command, *entry, {.made = wire::Made::kWasThere}, sender, now);
  note_changed(interface, view);
  return with_warning({}, command, sender, remark(command, view, *entry->interface), now);
}

Result<Done> StatisticsBranch::define(const wire::CommandLine& command, const Sender& sender,
                                      Timestamp now, const LineStep& step) {
  const auto [interface, statistic, has_statistic] = wire::split_path(command.target.text);
  const InterfaceEntry* const entry = find_interface(interface);
  if (!entry) return no_interface_to_define(command);
  if (auto allowed = may_change(*entry, sender.rights); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  if (const auto word = feed_alone(command)) return define_feed(command, *word, now, step.is_late);
  const auto own = own_line(command);
  if (!own) return own.error();
  if (has_statistic) {
    if (auto named = check_name(command, own.value(), statistic); !named) return named.error();
  }
  if (command.door == wire::Door::kPerson && trimmed(command.rest.text).empty()) {
    return invalid("the command needs KEY=VALUE", command.rest.at + command.rest.text.size());
  }
  const DefinitionLine line = definition_line(command, own.value());
  const Strictness strictness = strictness_of(command);
  const auto done = line.is_default
                        ? define_default(*entry, line.text, now, strictness)
                        : entry->interface->define_step(line.text, now, step, strictness);
  if (!done) return line.place(with_creation(done.error(), entry->name, line.text));
  if (!done.value()) return Done{.is_cut = true};
  if (const auto word = find_word(line.text, kNameKey)) {
    note_changed(interface, word->text.substr(kNameKey.size()));
  } else {
    note_changed(interface, Extent::kStatistics);
  }
  auto fault = entry->interface->remark(line.text);
  if (!fault && line.is_default && strictness == Strictness::kStrict) {
    fault = remark_on_default(*entry, line.text);
  }
  if (fault) fault->token_at = line.place(*fault).token_at - command.rest.at;
  return with_warning({}, command, sender, std::move(fault), now);
}

// What users or rules have made otherwise stays.
std::optional<Error> StatisticsBranch::remark_on_default(const InterfaceEntry& entry,
                                                         std::string_view line) {
  const auto named = find_word(line, kNameKey);
  if (!named) return std::nullopt;
  const std::string_view name = named->text.substr(kNameKey.size());
  const auto differs = entry.interface->difference(name, settable_words(line), Strictness::kStrict);
  if (!differs || differs.value().empty()) return std::nullopt;
  return invalid("a default changes nothing that was defined since: " + shown(differs.value()) +
                     " stays; without default=1 it does",
                 named->at);
}

// Rules are for statistics that are no views.
Result<bool> StatisticsBranch::define_default(const InterfaceEntry& entry, std::string_view text,
                                              Timestamp now, Strictness strictness) {
  const auto change = parse_change(text);
  std::vector<std::string> rules;
  if (change && change.value().name) {
    const StatisticEntry* const named = find_typed(entry, change.value().name->value);
    if (named) rules = lines_of_rules(PathNaming::name(*named), named->statistic->name());
  }
  const auto done = entry.interface->define_default(text, rules, now, strictness);
  if (!done) return done.error();
  return true;
}

Result<Done> StatisticsBranch::remove(const wire::CommandLine& command, uid_t sender, Timestamp now,
                                      const IsLate& is_late) {
  const auto [interface, statistic, has_statistic] = wire::split_path(command.target.text);
  InterfaceEntry* const entry = find_interface(interface);
  if (!entry) return not_found("interface", command.target.at);
  if (auto allowed = may_change(*entry, sender); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  if (interface == kOwnName) return own_interface(command.target.at);
  if (!has_statistic) {
    if (!remove(*entry, now, is_late)) return Done{.is_cut = true};
    note_changed(interface, Extent::kInterface);
    return Done{};
  }
  // A view has no entry.
  if (StatisticEntry* const gone = find(command.target.text)) forget(*gone);
  if (!entry->interface->remove_statistic(statistic, now)) {
    return not_found("statistic", command.target.at + interface.size() + 1);
  }
  note_changed(interface, statistic);
  return Done{};
}

Result<Done> StatisticsBranch::attach(const wire::CommandLine& command, uid_t sender) {
  if (StatisticEntry* const entry = find(command.target.text)) {
    if (is_fed_by(*entry->owner, sender)) return named(*entry, wire::Made::kNew);
    return error_at(not_fed_by_all(*entry->owner, sender), command.target.at);
  }
  const auto [interface, statistic, has_statistic] = wire::split_path(command.target.text);
  const InterfaceEntry* const owner = find_interface(interface);
  if (owner && owner->interface->find(statistic)) {
    return Error{ErrorCode::kExists, "this is a view, which takes no samples of its own",
                 command.target.at};
  }
  return not_found("statistic", command.target.at);
}

Result<void> StatisticsBranch::may_change(const InterfaceEntry& entry, uid_t sender) const {
  return ownership_.check(
      entry.interface->uid(), sender,
      {.thing = "interface", .change = "change what is in it, or a member of --write-group"});
}

Error StatisticsBranch::not_fed_by_all(const InterfaceEntry& entry, uid_t sender) const {
  return ownership_
      .check(entry.interface->uid(), sender,
             {.thing = "interface", .change = "feed it (feed=owner)"})
      .error();
}

Result<StatisticsBranch::StatisticEntry*> StatisticsBranch::create_statistic(
    std::string_view path, std::string_view text, uid_t creator, Timestamp now,
    Strictness strictness) {
  const auto [interface, statistic, has_statistic] = wire::split_path(path);
  if (interface == kOwnName) return own_interface(0);
  if (const auto second = statistic.find('/'); second != std::string_view::npos) {
    return Error{ErrorCode::kInvalid, "a name has one '/': write %2F for others",
                 interface.size() + 1 + second};
  }
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
  const auto made = entry->interface->create_statistic(statistic, text, now, strictness);
  if (made) {
    StatisticEntry& entered = enter(*entry, made.value());
    apply_rules(entered, now, Interface::By::kRule);
    return &entered;
  }
  if (is_new) forget(*entry, now);
  return error_at(made.error(), path.size());
}

Result<void> StatisticsBranch::remove_interface(std::string_view name, Timestamp now) {
  if (name == kOwnName) return own_interface(0);
  return work_in_steps([&](const IsLate& is_late) -> Result<Step> {
    const MutexLock lock(mutex_);
    InterfaceEntry* const entry = find_interface(name);
    if (!entry) return not_found("interface", 0);
    return remove(*entry, now, is_late) ? Step::kLast : Step::kMore;
  });
}

}  // namespace tallyfs::statistics
