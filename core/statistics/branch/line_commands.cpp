#include "core/statistics/branch/line_commands.h"

#include <utility>

#include "core/statistics/branch/command_text.h"
#include "core/statistics/branch/definition_line.h"

namespace tallyfs::statistics {

namespace {

Result<AskedInterface> parse_interface(std::string_view words) {
  AskedInterface asked;
  Tokens tokens(words);
  for (;;) {
    if (asked.lifetime == Lifetime::kForGood) {
      if (const auto taken = take_lifetime(tokens)) asked.lifetime = taken.value();
    }
    const auto word = tokens.next();
    if (!word) return asked;
    if (!word->text.starts_with(kFeedKey)) {
      return invalid("an interface has no attribute but lifetime=feeder and feed=any or feed=owner",
                     word->at);
    }
    if (asked.feed) return invalid("feed is given twice", word->at);
    const auto feed = parse_feed(word->text.substr(kFeedKey.size()));
    if (!feed) return invalid("feed must be any or owner", word->at);
    asked.feed = {*feed, word->at};
  }
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

// A remark on words without effect in the line that made or found a statistic; the token counts in
// its text.
std::optional<Error> remark(const wire::CommandLine& command, std::string_view statistic,
                            const Interface& interface) {
  const std::string name = std::string("name=").append(statistic);
  auto fault = interface.remark(name + std::string(command.rest.text));
  if (fault) fault->token_at -= std::min(name.size(), fault->token_at);
  return fault;
}

// Says which words a default leaves as users or rules have defined them.
std::optional<Error> remark_on_default(const InterfaceEntry& entry, std::string_view line) {
  const auto named = find_word(line, kNameKey);
  if (!named) return std::nullopt;
  const std::string_view name = named->text.substr(kNameKey.size());
  const auto differs = entry.interface->difference(name, settable_words(line), Strictness::kStrict);
  if (!differs || differs.value().empty()) return std::nullopt;
  return invalid("a default changes nothing that was defined since: " + shown(differs.value()) +
                     " stays; without default=1 it does",
                 named->at);
}

}  // namespace

Result<AskedInterface> asked_interface(const wire::CommandLine& command) {
  if (wire::split_path(command.target.text).has_statistic) return AskedInterface{};
  auto asked = parse_interface(command.rest.text);
  if (!asked) return error_at(asked.error(), command.rest.at);
  return asked;
}

std::optional<Token> feed_alone(const wire::CommandLine& command) {
  if (wire::split_path(command.target.text).has_statistic) return std::nullopt;
  Tokens tokens(command.rest.text);
  const auto word = tokens.next();
  const bool is_alone = word && word->text.starts_with(kFeedKey) && !tokens.next();
  return is_alone ? word : std::nullopt;
}

Result<Done> InterfaceCommands::create(const wire::CommandLine& command,
                                       const AskedInterface& asked, const Sender& sender,
                                       Timestamp now) {
  InterfaceEntry* entry = registry_.find_interface(command.target.text);
  const wire::Made made = entry ? wire::Made::kWasThere : wire::Made::kNew;
  if (!entry) {
    const auto created = registry_.create_interface(command.target.text, sender.uid, now);
    if (!created) return error_at(created.error(), command.target.at);
    entry = created.value();
    if (asked.feed) entry->interface->set_feed(asked.feed->value, now);
    pending_.note(entry->name, Changed::Extent::kInterface);
  } else if (asked.lifetime == Lifetime::kForGood || entry->feeders.empty()) {
    return leave(command, *entry, asked, sender, now);
  } else if (auto allowed = rights_.may_change(*entry, sender.rights); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  if (asked.lifetime == Lifetime::kForGood) return Done{.made = made};
  const bool had_it = entry->feeders.contains(sender.pid);
  if (const auto added = registry_.add_feeder(*entry, sender.pid); !added) {
    if (made == wire::Made::kNew) registry_.forget(*entry, now);
    return error_at(added.error(), rest_at(command));
  }
  if (!had_it) {
    entry->changes += 1;
    pending_.note(entry->name, Changed::Extent::kInterface);
  }
  if (made == wire::Made::kNew) return Done{.made = made};
  return leave(command, *entry, asked, sender, now);
}

// An interface that exists keeps its feed.
Done InterfaceCommands::leave(const wire::CommandLine& command, const InterfaceEntry& entry,
                              const AskedInterface& asked, const Sender& sender, Timestamp now) {
  std::optional<Error> differs;
  const Feed feed = entry.interface->feed();
  if (asked.feed && asked.feed->value != feed) {
    differs = invalid("it exists with feed=" + std::string(spelled(feed)) +
                          " and stays so; to change it: define " + shown(entry.name) +
                          " feed=" + std::string(spelled(asked.feed->value)),
                      asked.feed->at);
  }
  return with_warning(errors_, {.made = wire::Made::kWasThere}, command, sender, std::move(differs),
                      now);
}

Result<Done> InterfaceCommands::define_feed(const wire::CommandLine& command, const Token& word,
                                            Timestamp now, const IsLate& is_late) {
  if (command.target.text == kOwnInterface) return own_interface(command.target.at);
  const auto asked = parse_interface(word.text);
  if (!asked) return error_at(asked.error(), command.rest.at + word.at);
  InterfaceEntry& entry = *registry_.find_interface(command.target.text);
  entry.changes += 1;  // as in absorb_cells()
  if (!entry.interface->set_feed(asked.value().feed->value, now, is_late)) {
    return Done{.is_cut = true};
  }
  pending_.note(entry.name, Changed::Extent::kInterface);
  return Done{};
}

Result<Done> LineCommands::create(const wire::CommandLine& command, const AskedInterface& asked,
                                  const Sender& sender, Timestamp now) {
  if (!wire::split_path(command.target.text).has_statistic) {
    return of_interfaces_.create(command, asked, sender, now);
  }
  const std::string_view statistic = wire::split_path(command.target.text).statistic;
  if (command.door == wire::Door::kPerson) {
    const auto own = own_line(command);
    if (!own) return own.error();
    if (auto named = check_name(command, own.value(), statistic); !named) return named.error();
  }
  if (Interface::is_of_a_view(command.rest.text)) return create_view(command, sender, now);
  if (StatisticEntry* const entry = registry_.find(command.target.text)) {
    if (!rights_.is_fed_by(*entry->owner, sender.rights)) {
      return error_at(rights_.not_fed_by_all(*entry->owner, sender.rights), command.target.at);
    }
    return leave(command, *entry->owner, named(*entry, wire::Made::kWasThere), sender, now);
  }
  const auto made = rules_.create_statistic(command.target.text, command.rest.text, sender.rights,
                                            now, strictness_of(command));
  if (made) {
    pending_.note(made.value()->owner->name, statistic);
    return with_warning(errors_, named(*made.value(), wire::Made::kNew), command, sender,
                        Interface::remark_on_new(command.rest.text, strictness_of(command)), now);
  }
  const bool in_rest = made.error().token_at >= command.target.text.size() &&
                       made.error().token_at != Error::kNoToken;
  const std::size_t start =
      in_rest ? command.rest.at - command.target.text.size() : command.target.at;
  return error_at(made.error(), start);
}

Done LineCommands::named(StatisticEntry& entry, wire::Made made) {
  return {.number = registry_.publish(entry),
          .made = made,
          .decimals = static_cast<std::uint8_t>(entry.statistic->decimals())};
}

// Another user's feeder does not decide about the samples of this one's.
Result<void> LineCommands::agree_on_units(const wire::CommandLine& command,
                                          const InterfaceEntry& owner, const Sender& sender) const {
  const std::string_view name = wire::split_path(command.target.text).statistic;
  if (auto refusal = owner.interface->refuse_sample_units(name, command.rest.text)) {
    refusal->reason += ": remove it with tallyctl rm, or take another name";
    return error_at(*refusal, command.rest.at);
  }
  if (!rights_.may_change(owner, sender.rights)) return {};
  return owner.interface->note_sample_units(name, command.rest.text);
}

// A statistic that is there keeps its definition, whatever the line says.
Result<Done> LineCommands::leave(const wire::CommandLine& command, const InterfaceEntry& owner,
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
  return with_warning(errors_, std::move(done), command, sender, std::move(fault), now);
}

// A program need not know what rules say.
bool LineCommands::is_ruled(const wire::CommandLine& command) {
  const std::string_view name = wire::split_path(command.target.text).statistic;
  return command.door == wire::Door::kProgram &&
         !rules_.lines_for(std::string(command.target.text), name).empty();
}

// A view has no number: it takes no samples.
Result<Done> LineCommands::create_view(const wire::CommandLine& command, const Sender& sender,
                                       Timestamp now) {
  const auto [interface, view, has_statistic] = wire::split_path(command.target.text);
  const InterfaceEntry* const entry = registry_.find_interface(interface);
  if (!entry) return not_found("interface", command.target.at);
  if (auto allowed = rights_.may_change(*entry, sender.rights); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  if (interface == kOwnInterface) return own_interface(command.target.at);
  const auto made =
      entry->interface->create_view(view, command.rest.text, now, strictness_of(command));
  if (!made) return error_at(made.error(), command.rest.at);
  if (!made.value()) return leave(command, *entry, {.made = wire::Made::kWasThere}, sender, now);
  pending_.note(interface, view);
  return with_warning(errors_, {}, command, sender, remark(command, view, *entry->interface), now);
}

Result<Done> LineCommands::define(const wire::CommandLine& command, const Sender& sender,
                                  Timestamp now, const LineStep& step) {
  const auto [interface, statistic, has_statistic] = wire::split_path(command.target.text);
  const InterfaceEntry* const entry = registry_.find_interface(interface);
  if (!entry) return no_interface_to_define(command);
  if (auto allowed = rights_.may_change(*entry, sender.rights); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  if (const auto word = feed_alone(command))
    return of_interfaces_.define_feed(command, *word, now, step.is_late);
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
    pending_.note(interface, word->text.substr(kNameKey.size()));
  } else {
    pending_.note(interface, Changed::Extent::kStatistics);
  }
  auto fault = entry->interface->remark(line.text);
  if (!fault && line.is_default && strictness == Strictness::kStrict) {
    fault = remark_on_default(*entry, line.text);
  }
  if (fault) fault->token_at = line.place(*fault).token_at - command.rest.at;
  return with_warning(errors_, {}, command, sender, std::move(fault), now);
}

// Rules are for statistics that are no views.
Result<bool> LineCommands::define_default(const InterfaceEntry& entry, std::string_view text,
                                          Timestamp now, Strictness strictness) {
  const auto change = parse_change(text);
  std::vector<std::string> rules;
  if (change && change.value().name) {
    const StatisticEntry* const named = registry_.find_typed(entry, change.value().name->value);
    if (named) rules = rules_.lines_for(PathNaming::name(*named), named->statistic->name());
  }
  const auto done = entry.interface->define_default(text, rules, now, strictness);
  if (!done) return done.error();
  return true;
}

Result<Done> LineCommands::remove(const wire::CommandLine& command, uid_t sender, Timestamp now,
                                  const IsLate& is_late) {
  const auto [interface, statistic, has_statistic] = wire::split_path(command.target.text);
  InterfaceEntry* const entry = registry_.find_interface(interface);
  if (!entry) return not_found("interface", command.target.at);
  if (auto allowed = rights_.may_change(*entry, sender); !allowed) {
    return error_at(allowed.error(), command.target.at);
  }
  if (interface == kOwnInterface) return own_interface(command.target.at);
  if (!has_statistic) {
    if (!registry_.remove(*entry, now, is_late)) return Done{.is_cut = true};
    pending_.note(interface, Changed::Extent::kInterface);
    return Done{};
  }
  // A view has no entry.
  if (StatisticEntry* const gone = registry_.find(command.target.text)) {
    registry_.remove_name(*gone);
  }
  if (!entry->interface->remove_statistic(statistic, now)) {
    return not_found("statistic", command.target.at + interface.size() + 1);
  }
  pending_.note(interface, statistic);
  return Done{};
}

Result<Done> LineCommands::attach(const wire::CommandLine& command, uid_t sender) {
  if (StatisticEntry* const entry = registry_.find(command.target.text)) {
    if (rights_.is_fed_by(*entry->owner, sender)) return named(*entry, wire::Made::kNew);
    return error_at(rights_.not_fed_by_all(*entry->owner, sender), command.target.at);
  }
  const auto [interface, statistic, has_statistic] = wire::split_path(command.target.text);
  const InterfaceEntry* const owner = registry_.find_interface(interface);
  if (owner && owner->interface->find(statistic)) {
    return Error{ErrorCode::kExists, "this is a view, which takes no samples of its own",
                 command.target.at};
  }
  return not_found("statistic", command.target.at);
}

}  // namespace tallyfs::statistics
